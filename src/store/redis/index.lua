-- The index counts what is kept. ends: key by the end of its life; sizes: bytes and holder of a key;
-- held: records (n:HOLDER) and bytes (b:HOLDER) of each holder, and the bytes of all (bytes).
local ends, sizes, held = KEYS[2], KEYS[3], KEYS[4]

local function add(holder, records, bytes)
  redis.call('HINCRBY', held, 'bytes', bytes)
  redis.call('HINCRBY', held, 'b:' .. holder, bytes)
  if redis.call('HINCRBY', held, 'n:' .. holder, records) <= 0 then
    redis.call('HDEL', held, 'n:' .. holder, 'b:' .. holder)
  end
end

local function size(key)
  local bytes, holder = string.match(redis.call('HGET', sizes, key) or '0 ', '^(%d+) (.*)$')
  return tonumber(bytes), holder
end

local function forget(key)
  local bytes, holder = size(key)
  redis.call('HDEL', sizes, key)
  redis.call('ZREM', ends, key)
  add(holder, -1, -bytes)
end

-- Takes what is over out of the index; the records themselves have expired.
local function sweep(limit)
  for _, key in ipairs(redis.call('ZRANGEBYSCORE', ends, '-inf', now, 'LIMIT', 0, limit)) do forget(key) end
end
