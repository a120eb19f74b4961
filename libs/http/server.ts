/**
 * A node server: how many connections it takes and how long each may wait, its answers to requests that are no HTTP, and
 * its orderly end.
 */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { badRequest } from '#libs/errors';
import { type DrainOptions, listen, prepareDrain } from '#libs/lifecycle';
import { Connections } from './connections.ts';
import { renderError } from './envelope.ts';
import { findSurface, type Refusal, type Surface } from './exchange.ts';
import { plainPath } from './malformed.ts';
import { sendContinueOnRead, hasBody } from './incoming.ts';

export interface HttpServer {
  /** Resolves with the port really used. @throws Error when it is taken. */
  listen(at: { host: string; port: number }): Promise<number>;
  /** Ends it as `prepareDrain` of libs/lifecycle says. */
  drain(options: DrainOptions): Promise<void>;
  /** Ends it at once, with its connections. */
  close(): Promise<void>;
}

/** Koa's callback, or whatever else answers requests; never rejects. */
export type HandleRequest = (req: IncomingMessage, res: ServerResponse) => void | Promise<void>;

export interface HttpServerOptions {
  /** `X-Api-Version` of answers that `handle` has no part in. */
  apiVersion?: string;
  /** Name of the setting that the port comes from, for the message when it is taken. */
  portName: string;
  /** Connections at the same time; for one more the cheapest is closed (`Connections`). */
  maxConnections: number;
  /** Whether a request may be given up when connections run out; default: none. */
  isAnonymous?: (req: IncomingMessage) => boolean;
  refused?: (reason: Refusal) => void;
}

/** Longer than the usual 60 s of proxies, so that none writes on a connection that is being closed. */
const keepAliveMs = 65_000;
/** From the connection, or the first byte of a later request, to the end of the headers. */
const headersTimeoutMs = 15_000;
const headersCheckMs = 2_000;
/** Name and value of all headers together; more is 431. */
const maxHeaderBytes = 16_384;
const maxRequestsPerConnection = 10_000;
/** Requests of one connection that are worked on at the same time. Browsers and proxies send the next one after the answer. */
const maxPipelined = 16;
/** Server, log, guards and streams of an answer all want to know of its end. */
const maxListeners = 20;
/** How long a refused client has to take the answer: closed at once with bytes of its unread, the connection is reset, and the answer may be lost. */
const lingerMs = 1_000;
const allMethods = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';
/** A client that takes nothing of an answer for so long. */
const stallLimitMs = 60_000;

export function createHttpServer(handle: HandleRequest, options: HttpServerOptions): HttpServer {
  const { refused = () => undefined, isAnonymous = () => false } = options;
  const limits = {
    keepAliveTimeout: keepAliveMs,
    headersTimeout: headersTimeoutMs,
    connectionsCheckingInterval: headersCheckMs,
    maxHeaderSize: maxHeaderBytes,
    // Bodies have a rule of their own (D62).
    requestTimeout: 0,
    // Node's own answer has no body and none of our headers: `rejectMalformed`.
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
    delete req.headers.expect; // of HTTP/1.0, which knows none
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
  // Comes when a connection has been silent: a kept one that is not used, one whose client takes nothing, or one that waits for its answer.
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

/** Behind this answer the connection ends, so that further requests need none. */
function refusePipelined(res: ServerResponse, apiVersion: string | undefined): void {
  const body = '{"detail":"Too many requests at once on one connection"}';
  const { socket } = res.req;
  socket.destroySoon = () => {
    socket.end();
    socket.pause();
    setTimeout(() => socket.destroy(), lingerMs).unref();
  };
  res.writeHead(503, { ...plainHeaders(apiVersion), 'Content-Length': body.length, 'Retry-After': '1', Connection: 'close' });
  res.end(body);
}

/** Headers of an answer that the app has no part in. */
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
  /** What the parser got last: as a rule the request from its beginning. */
  readonly rawPacket?: Buffer;
}

/** What the parser refuses never reaches koa; it gets an envelope all the same, that of its surface where that can be read. */
function refuseMalformed(error: ParseError, socket: Socket, apiVersion: string | undefined): void {
  if (error.code === 'ECONNRESET' || !socket.writable || socket.bytesRead === 0) {
    socket.destroy();
    return;
  }
  const headers = plainHeaders(apiVersion);
  if (error.code === 'HPE_HEADER_OVERFLOW')
    writePlain(socket, '431 Request Header Fields Too Large', toDetail('Request header fields too large'), headers);
  else if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') writePlain(socket, '408 Request Timeout', toDetail('Request timeout'), headers);
  else writePlain(socket, '400 Bad Request', renderError(readSurface(error), badRequest('Bad request')).body, headers);
}

function readSurface({ rawPacket }: ParseError): Surface {
  const [, path] = /^[A-Z]+ (?:https?:\/\/[^/ ]*)?(\/[^ ?]*)/i.exec(rawPacket?.toString('latin1', 0, 500) ?? '') ?? [];
  return path === undefined ? 'other' : findSurface(plainPath(path));
}

/** There is no way through this server to another one. */
function refuseConnect(socket: Socket, apiVersion: string | undefined): void {
  socket.on('error', () => undefined);
  writePlain(socket, '405 Method Not Allowed', toDetail('Method not allowed'), { Allow: allMethods, ...plainHeaders(apiVersion) });
}

const toDetail = (detail: string): string => JSON.stringify({ detail });

/** An answer without node's part; the connection ends with it. */
function writePlain(socket: Socket, status: string, body: string, given: Readonly<Record<string, string>>): void {
  const headers = { Connection: 'close', 'Content-Length': String(body.length), ...given };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status}\r\n${lines.join('')}\r\n${body}`);
  setTimeout(() => socket.destroy(), lingerMs).unref();
}
