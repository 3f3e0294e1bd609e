"""Reads OTLP requests, one a line in hex, with the official messages; writes their spans as JSON."""

import json
import sys

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


def value(any_value):
    return getattr(any_value, any_value.WhichOneof("value"))


def attributes(pairs):
    names = [pair.key for pair in pairs]
    assert len(set(names)) == len(names), f"an attribute twice: {names}"
    return {pair.key: value(pair.value) for pair in pairs}


spans = []
for line in sys.stdin:
    sent = bytes.fromhex(line.strip())
    request = ExportTraceServiceRequest.FromString(sent)
    # Fields that are in no message would be kept aside and not be written again.
    request.DiscardUnknownFields()
    assert len(request.SerializeToString()) == len(sent), "fields that are in no message"
    for of_resource in request.resource_spans:
        for of_scope in of_resource.scope_spans:
            for span in of_scope.spans:
                spans.append(
                    {
                        "resource": attributes(of_resource.resource.attributes),
                        "scope": of_scope.scope.name,
                        "trace": span.trace_id.hex(),
                        "span": span.span_id.hex(),
                        "parent": span.parent_span_id.hex(),
                        "name": span.name,
                        "kind": span.kind,
                        "flags": span.flags,
                        "start": span.start_time_unix_nano,
                        "end": span.end_time_unix_nano,
                        "status": span.status.code,
                        "attributes": attributes(span.attributes),
                    }
                )
json.dump(spans, sys.stdout)
