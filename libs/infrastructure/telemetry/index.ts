/** Health, metrics and traces of a service (rules/operations#health, rules/operations#metrics). */
export { createTelemetry, type Check, type Telemetry } from './health.ts';
export { createMetrics, type Counter, type Metrics, type Red, createSecretUseCounter } from './metrics.ts';
export { newRequestId, newTraceparent, readRequestId, readTraceIds } from './trace-context.ts';
export { findTracer, errorTypeOf, serverAttributes, type Span, type SpanAttributes, traceWork } from './tracing.ts';
