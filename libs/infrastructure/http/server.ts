/** A node HTTP server: limits of connections and timeouts, responses to malformed requests, and graceful shutdown. */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { badRequest } from '#libs/infrastructure/errors';
import { type DrainOptions, listen, prepareDrain } from '#libs/infrastructure/lifecycle';
import { Connections } from './connections.ts';
import { renderError } from './envelope.ts';
import { findSurface, type Refusal, type Surface } from './exchange.ts';
import { plainPath } from './malformed.ts';
import { sendContinueOnRead, hasBody } from './incoming.ts';

export interface HttpServer {
  /** Starts listening. Resolves with the actual port. @throws Error when the port is in use */
  listen(at: { host: string; port: number }): Promise<number>;
  /** Stops the server gracefully, see `prepareDrain` of libs/infrastructure/lifecycle. */
  drain(options: DrainOptions): Promise<void>;
  /** Stops the server immediately and closes all connections. */
  close(): Promise<void>;
}

/** Handles a request: koa's callback or another function that never rejects. */
export type HandleRequest = (req: IncomingMessage, res: ServerResponse) => void | Promise<void>;

export interface HttpServerOptions {
  /** Value of `X-Api-Version` on responses that the server sends without `handle`. */
  apiVersion?: string;
  /** Name of the setting of the port, for the error message. */
  portName: string;
  /** Maximum number of connections. When it is exceeded, the least valuable connection is closed (`Connections`). */
  maxConnections: number;
  /** Returns whether a request may be aborted when connections run out. Default: never. */
  isAnonymous?: (req: IncomingMessage) => boolean;
  refused?: (reason: Refusal) => void;
}

/**
 * Time until an idle connection is closed. It is longer than the 60 s of common proxies, so that they do not reuse a
 * connection that is being closed.
 */
const keepAliveMs = 65_000;
/** Time limit for receiving the headers, from opening the connection or from the first byte of a later request. */
const headersTimeoutMs = 15_000;
const headersCheckMs = 2_000;
/** Maximum size of all headers together; larger headers return 431. */
const maxHeaderBytes = 16_384;
const maxRequestsPerConnection = 10_000;
/** Concurrent requests per connection. Browsers and proxies send the next request after the response. */
const maxPipelined = 16;
/** Server, log, guards and response streams all listen for the end of a response. */
const maxListeners = 20;
/**
 * Time for a rejected client to read the response. Closing the connection with unread bytes would reset it and could
 * lose the response.
 */
const drainMs = 1_000;
const allMethods = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';
/** Time after which a client is disconnected if it reads nothing of a response. */
const stallLimitMs = 60_000;

export function createHttpServer(handle: HandleRequest, options: HttpServerOptions): HttpServer {
  const { refused = () => undefined, isAnonymous = () => false } = options;
  const limits = {
    keepAliveTimeout: keepAliveMs,
    headersTimeout: headersTimeoutMs,
    connectionsCheckingInterval: headersCheckMs,
    maxHeaderSize: maxHeaderBytes,
    // Bodies have their own time limits (D62).
    requestTimeout: 0,
    // Node's own response lacks the body and our headers; `rejectMalformed` checks the header instead.
    requireHostHeader: false,
  };
  const connections = new Connections({ max: options.maxConnections, refused, isAnonymous });
  const answer = (req: IncomingMessage, res: ServerResponse): void => {
    const { socket } = req;
    const running = connections.begin(req, res);
    if (running <= maxPipelined) {
      res.setMaxListeners(maxListeners);
      res.once('close', () => connections.end(socket));
      void handle(req, res);
    } else if (running === maxPipelined + 1) {
      refused('pipelining');
      refusePipelined(res, options.apiVersion);
    }
  };
  const server: Server = createServer(limits, (req, res) => {
    delete req.headers.expect; // only HTTP/1.0 requests; HTTP/1.0 does not define the header
    answer(req, res);
  });
  server.on('checkExpectation', answer);
  server.on('checkContinue', (req, res) => {
    if (hasBody(req)) sendContinueOnRead(req, res);
    else delete req.headers.expect;
    answer(req, res);
  });
  server.on('connect', ({ socket }: IncomingMessage) => refuseConnect(socket, options.apiVersion));
  server.maxRequestsPerSocket = maxRequestsPerConnection;
  // Emitted for an idle connection: unused keep-alive, a client that does not read, or one that waits for its response.
  server.setTimeout(stallLimitMs, (socket) => {
    if (socket.writableLength > 0) refused('answer_too_slow');
    else if (connections.countRunning(socket) > 0) return;
    socket.destroy();
  });
  const drain = prepareDrain(server);
  server.on('connection', (socket: Socket) => connections.add(socket));
  server.on('clientError', (error: ParseError, socket: Socket) =>
    connections.refuse(socket, () => refuseMalformed(error, socket, options.apiVersion)),
  );
  return {
    listen: (at) => listen(server, { ...at, portName: options.portName }),
    drain,
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** Rejects pipelined requests over the limit and closes the connection after the response. */
function refusePipelined(res: ServerResponse, apiVersion: string | undefined): void {
  const body = '{"detail":"Too many requests at once on one connection"}';
  const { socket } = res.req;
  socket.destroySoon = () => {
    socket.end();
    socket.pause();
    setTimeout(() => socket.destroy(), drainMs).unref();
  };
  res.writeHead(503, {
    ...plainHeaders(apiVersion),
    'Content-Length': body.length,
    'Retry-After': '1',
    Connection: 'close',
  });
  res.end(body);
}

/** Returns the headers of a response that `handle` does not send. */
function plainHeaders(apiVersion: string | undefined): Record<string, string> {
  return {
    'Content-Type': 'application/json',
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'X-Request-Id': randomUUID(),
    ...(apiVersion === undefined ? {} : { 'X-Api-Version': apiVersion }),
  };
}

interface ParseError extends NodeJS.ErrnoException {
  /** The data that the parser read last, usually from the start of the request. */
  readonly rawPacket?: Buffer;
}

/**
 * Responds to requests that the parser rejects and that never reach koa. The response uses the error envelope of the
 * surface, if the path can be read.
 */
function refuseMalformed(error: ParseError, socket: Socket, apiVersion: string | undefined): void {
  if (error.code === 'ECONNRESET' || !socket.writable || socket.bytesRead === 0) {
    socket.destroy();
    return;
  }
  const headers = plainHeaders(apiVersion);
  if (error.code === 'HPE_HEADER_OVERFLOW')
    writePlain(socket, '431 Request Header Fields Too Large', toDetail('Request header fields too large'), headers);
  else if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT')
    writePlain(socket, '408 Request Timeout', toDetail('Request timeout'), headers);
  else writePlain(socket, '400 Bad Request', renderError(readSurface(error), badRequest('Bad request')).body, headers);
}

function readSurface({ rawPacket }: ParseError): Surface {
  const [, path] = /^[A-Z]+ (?:https?:\/\/[^/ ]*)?(\/[^ ?]*)/i.exec(rawPacket?.toString('latin1', 0, 500) ?? '') ?? [];
  return path === undefined ? 'other' : findSurface(plainPath(path));
}

/** Rejects CONNECT requests, because this server is not a proxy. */
function refuseConnect(socket: Socket, apiVersion: string | undefined): void {
  socket.on('error', () => undefined);
  writePlain(socket, '405 Method Not Allowed', toDetail('Method not allowed'), {
    Allow: allMethods,
    ...plainHeaders(apiVersion),
  });
}

const toDetail = (detail: string): string => JSON.stringify({ detail });

/** Writes a response directly to the socket and closes the connection. */
function writePlain(socket: Socket, status: string, body: string, given: Readonly<Record<string, string>>): void {
  const headers = { Connection: 'close', 'Content-Length': String(body.length), ...given };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status}\r\n${lines.join('')}\r\n${body}`);
  setTimeout(() => socket.destroy(), drainMs).unref();
}
