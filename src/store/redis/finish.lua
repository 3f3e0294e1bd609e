-- KEYS: record, ends, sizes, held, receipt. ARGV: key, how it ended, answer, the receipt it was begun under.
-- Only what is pending is ended, and only what was begun so: an end may come late.
local key = ARGV[1]
local f = redis.call('HMGET', KEYS[1], 'state', 'expires', 'receipt')
if f[1] ~= 'pending' or tonumber(f[2]) <= now or ARGV[4] ~= f[3] then
  -- Given up before it came: then it is not begun either, however long it lies somewhere (`begin` is late after seconds).
  if ARGV[2] == 'forget' then redis.call('SET', KEYS[5], '', 'PX', 60000, 'NX') end
  return 0
end
if ARGV[2] == 'forget' then
  redis.call('DEL', KEYS[1])
  forget(key)
elseif ARGV[2] == 'unknown' then
  redis.call('HSET', KEYS[1], 'state', 'unknown')
else
  redis.call('HSET', KEYS[1], 'state', 'done', 'answer', ARGV[3])
  local bytes, holder = size(key)
  redis.call('HSET', sizes, key, string.format('%.0f', bytes + #ARGV[3]) .. ' ' .. holder)
  add(holder, 0, #ARGV[3])
end
return 1
