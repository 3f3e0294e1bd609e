-- KEYS: record, ends, sizes, held, receipt.
-- ARGV: key, fingerprint, holder, receipt, lease, keep, latest, records, bytes, client's records, client's bytes,
-- what a record costs.
local key, holder, receipt = ARGV[1], ARGV[3], ARGV[4]
local found = read(KEYS[1])
if found then return found end
-- It has lain somewhere for so long that whoever asked has been told that nothing was begun.
if now > tonumber(ARGV[7]) then return {'late', now} end
-- Or it was given up already.
if redis.call('GET', KEYS[5]) then return {'late', now} end

local function turn_away()
  local records, bytes = redis.call('ZCARD', ends), tonumber(redis.call('HGET', held, 'bytes') or 0)
  local most, most_bytes = tonumber(ARGV[8]), tonumber(ARGV[9])
  if records >= most or bytes >= most_bytes then return 'full' end
  if records > math.floor(most / 2) or bytes > math.floor(most_bytes / 2) then
    local own = redis.call('HMGET', held, 'n:' .. holder, 'b:' .. holder)
    if tonumber(own[1] or 0) >= tonumber(ARGV[10]) or tonumber(own[2] or 0) >= tonumber(ARGV[11]) then
      return 'crowded'
    end
  end
  return false
end

sweep(2)
if turn_away() then
  sweep(1000)
  local why = turn_away()
  if why then return {why} end
end
-- A dead one of this key may still be counted, and there.
if redis.call('ZSCORE', ends, key) then forget(key) end
redis.call('DEL', KEYS[1])

local life = math.max(tonumber(ARGV[5]), tonumber(ARGV[6]))
redis.call('HSET', KEYS[1], 'fingerprint', ARGV[2], 'state', 'pending', 'receipt', receipt, 'since', now,
  'lease', now + ARGV[5], 'expires', now + life)
redis.call('PEXPIRE', KEYS[1], life)
redis.call('SET', KEYS[5], key, 'PX', life)
redis.call('ZADD', ends, now + life, key)
redis.call('HSET', sizes, key, ARGV[12] .. ' ' .. holder)
add(holder, 1, tonumber(ARGV[12]))
-- The index goes by itself once nothing in it can live.
for _, index in ipairs({ends, sizes, held}) do
  if redis.call('PTTL', index) < life + 60000 then redis.call('PEXPIRE', index, life + 60000) end
end
return {'fresh'}
