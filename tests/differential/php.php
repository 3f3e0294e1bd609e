<?php
// json_decode into objects, with its own limit of depth. See README.md for what is read and written.
function text(string $value): string {
    return implode('.', array_map(fn($c) => dechex(mb_ord_utf8($c)), preg_split('//u', $value, -1, PREG_SPLIT_NO_EMPTY)));
}

// mb_ord without the mbstring extension.
function mb_ord_utf8(string $c): int {
    $bytes = array_values(unpack('C*', $c));
    if ($bytes[0] < 0x80) return $bytes[0];
    $point = $bytes[0] & (0x3f >> (count($bytes) - 1));
    foreach (array_slice($bytes, 1) as $byte) $point = $point << 6 | $byte & 0x3f;
    return $point;
}

function dump($value, array &$out): void {
    if ($value === null) $out[] = 'n';
    elseif (is_bool($value)) $out[] = $value ? 't' : 'f';
    elseif (is_int($value)) $out[] = 'i' . $value;
    elseif (is_float($value)) $out[] = 'd' . bin2hex(pack('E', $value));
    elseif (is_string($value)) $out[] = 's' . text($value);
    elseif (is_array($value)) {
        $out[] = '[';
        foreach ($value as $element) dump($element, $out);
        $out[] = ']';
    } else {
        $out[] = '{';
        $named = [];
        foreach (get_object_vars($value) as $name => $member) $named['k' . text((string) $name)] = $member;
        ksort($named, SORT_STRING);
        foreach ($named as $name => $member) {
            $out[] = $name;
            dump($member, $out);
        }
        $out[] = '}';
    }
}

while (($line = fgets(STDIN)) !== false) {
    try {
        $out = [];
        dump(json_decode(hex2bin(trim($line)), false, 512, JSON_THROW_ON_ERROR), $out);
        echo implode(' ', $out), "\n";
    } catch (Throwable $fault) {
        echo '! ', str_replace("\n", ' ', $fault->getMessage()), "\n";
    }
}
