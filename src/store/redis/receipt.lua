-- KEYS: receipt. ARGV: what a record's name begins with, the receipt.
-- The record's name is in the same hash slot, as all names of a prefix are.
local key = redis.call('GET', KEYS[1])
local found = key and read(ARGV[1] .. key)
-- A pointer outlives a record that was forgotten, and the key may have been begun anew since.
if not found or found[5] ~= ARGV[2] then return false end
return found
