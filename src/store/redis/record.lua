-- What a record says: fingerprint, state, answer, receipt, since; nothing where there is none that lives.
-- A pending one whose lease is over is unknown.
local function read(record)
  local f = redis.call('HMGET', record, 'fingerprint', 'state', 'answer', 'receipt', 'since', 'lease', 'expires')
  if not f[1] or tonumber(f[7]) <= now then return false end
  local state = f[2]
  if state == 'pending' and tonumber(f[6]) <= now then state = 'unknown' end
  return {'found', f[1], state, f[3] or '', f[4], tonumber(f[5])}
end
