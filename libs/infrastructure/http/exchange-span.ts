/** The span of a served HTTP request, following OpenTelemetry's conventions (rules/operations#traces). */
import type { IncomingMessage } from 'node:http';
import { findTracer, type Span } from '#libs/infrastructure/telemetry';
import { redactPath } from './exchange.ts';

const knownMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'CONNECT', 'TRACE']);
const maxHostLength = 255;
export const unmatchedRoute = 'unmatched';

/**
 * Starts the span; returns undefined without a tracer. The span does not contain query strings or names of public
 * files.
 */
export function startRequestSpan(req: IncomingMessage, path: string, requestId: string): Span | undefined {
  const tracer = findTracer();
  if (tracer === undefined) return undefined;
  const attributes = {
    ...methodOf(req.method),
    'url.path': redactPath(path),
    'url.scheme': 'encrypted' in req.socket ? 'https' : 'http',
    ...addressOf(req.headers.host),
    'network.protocol.version': req.httpVersion,
    'request.id': requestId,
  };
  return tracer.start(req.method ?? '', 'server', attributes, req.headers['traceparent'] as string | undefined);
}

/** Ends the span. Only failures of the server (5xx) mark it as an error. */
export function endRequestSpan(span: Span | undefined, method: string, route: string, status: number): void {
  if (span === undefined) return;
  const name = knownMethods.has(method) ? method : 'HTTP';
  const isMatched = route !== unmatchedRoute;
  span.end({
    name: isMatched ? `${name} ${route}` : name,
    attributes: { ...(isMatched ? { 'http.route': route } : {}), 'http.response.status_code': status },
    error: status >= 500 ? String(status) : undefined,
  });
}

function methodOf(method = ''): Record<string, string> {
  return knownMethods.has(method)
    ? { 'http.request.method': method }
    : { 'http.request.method': '_OTHER', 'http.request.method_original': method };
}

/** Returns span attributes from the `Host` header, which is untrusted. */
function addressOf(host = ''): Record<string, string | number> {
  const [, name = '', port] = /^(\[[\d:.A-Fa-f]+\]|[^:/?#@\s[\]]+)(?::(\d{1,5}))?$/.exec(host) ?? [];
  if (name === '' || name.length > maxHostLength) return {};
  return {
    'server.address': name.replace(/^\[(.*)\]$/, '$1'),
    ...(port === undefined ? {} : { 'server.port': Number(port) }),
  };
}
