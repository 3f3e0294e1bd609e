-- KEYS: mark, ends, sizes, held, probe. ARGV: a mark, should there be none.
-- Writes, so that one that can only be read is found out; removes what is over; and tells the mark that says whether
-- this is still the same data, the time, and how many records there are.
redis.call('SET', KEYS[5], 1, 'PX', 60000)
redis.call('SET', KEYS[1], ARGV[1], 'NX')
sweep(1000)
return {redis.call('GET', KEYS[1]), now, redis.call('ZCARD', ends)}
