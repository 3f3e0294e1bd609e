<?php
// A PHP script as many are: json_decode into arrays. Run by `php -S`.
$order = json_decode(file_get_contents('php://input'), true);
if (!is_array($order) || !isset($order['sku'])) {
    http_response_code(400);
    exit('bad request');
}
if ($order['sku'] !== 'AB-plain') {  // a script that forgets this sends JSON as text/html
    header('Content-Type: application/json');
}
$note = $order['sku'] === 'AB-warns' ? $order['note'] : '';  // absent: a warning, in the body
echo json_encode([
    'cents' => gettype($order['cents'] ?? null) . ' ' . var_export($order['cents'] ?? null, true),
    'labels' => $order['labels'] ?? null,
]);
