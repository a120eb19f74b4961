/**
 * Routes of the internal and the public port. Every internal request is authenticated for exactly its method and path
 * before anything else is read (docs/adr/internal-http.md).
 */
import type { IncomingMessage } from 'node:http';
import { AssertionRejected, type ActorVerifier, requestName } from '#libs/infrastructure/actor';
import type { Actor, CallerKind } from '#libs/infrastructure/contract';
import { notFound } from '#libs/infrastructure/errors';
import type { Logger } from '#libs/infrastructure/logger';
import type { CallRefusal } from '#libs/infrastructure/nats';
import type { StoredFile } from '../contract.ts';
import { UnverifiedCaller } from './replies.ts';
import { type Exchange, type Listener, methodNotAllowed, readHeader, requireId } from './server.ts';

/** Handlers of the internal routes; `query` is the query of the URL. */
export interface InternalRoutes {
  uploadAudio(exchange: Exchange, conversationId: number): Promise<void>;
  downloadAudio(exchange: Exchange, conversationId: number): Promise<void>;
  /** Receives a file of the bulk import. */
  importFile(
    exchange: Exchange,
    conversationId: number,
    kind: StoredFile['kind'],
    query: URLSearchParams,
  ): Promise<void>;
  uploadLogo(exchange: Exchange, holonId: number): Promise<void>;
}

export interface AuthenticationDependencies {
  readonly actors: ActorVerifier;
  /** Invalidates a ticket; returns false when the ticket is not valid for this request. */
  readonly redeemTicket: (ticket: string, request: string) => Promise<boolean>;
  readonly logger: Logger;
  readonly onRefused: (reason: CallRefusal) => void;
}

/** An HTTP method and its allowed callers: kinds of actors, or `none` for a request with a ticket. */
interface Method {
  readonly allowedCallers: readonly CallerKind[];
  readonly run: (exchange: Exchange, id: number, query: URLSearchParams) => Promise<void>;
}

interface Path {
  readonly pattern: RegExp;
  readonly template: string;
  readonly surface: 'api' | 'v1';
  readonly methods: Readonly<Record<string, Method>>;
}

export function createInternalListener(routes: InternalRoutes, deps: AuthenticationDependencies): Listener {
  const importAs = (kind: StoredFile['kind']): Method => ({
    allowedCallers: ['none'],
    run: (exchange, id, query) => routes.importFile(exchange, id, kind, query),
  });
  const downloadAudio: Method = {
    allowedCallers: ['shared', 'user', 'none'],
    run: (exchange, id) => routes.downloadAudio(exchange, id),
  };
  const paths: readonly Path[] = [
    {
      pattern: /^\/internal\/conversations\/([1-9][0-9]{0,9})\/audio$/,
      template: '/internal/conversations/{id}/audio',
      surface: 'api',
      methods: {
        POST: { allowedCallers: ['user'], run: (exchange, id) => routes.uploadAudio(exchange, id) },
        PUT: importAs('audio'),
        GET: downloadAudio,
        HEAD: downloadAudio,
      },
    },
    ...(['full', 'front_trimmed'] as const).map((kind): Path => ({
      pattern: new RegExp(`^/internal/conversations/([1-9][0-9]{0,9})/recordings/${kind}$`),
      template: `/internal/conversations/{id}/recordings/${kind}`,
      surface: 'api',
      methods: { PUT: importAs(kind) },
    })),
    {
      pattern: /^\/internal\/holons\/([1-9][0-9]{0,9})\/logo$/,
      template: '/internal/holons/{id}/logo',
      surface: 'v1',
      methods: { POST: { allowedCallers: ['user'], run: (exchange, id) => routes.uploadLogo(exchange, id) } },
    },
  ];
  return {
    portName: 'INTERNAL_PORT',
    paths,
    serve: async (exchange, path, query) => {
      const { request, context } = exchange;
      const method = request.method ?? '';
      const refuse = (reason: CallRefusal): never => {
        deps.onRefused(reason);
        deps.logger.error(
          { requestId: context.requestId, method, path, reason },
          'internal http: unverified request rejected',
        );
        throw new UnverifiedCaller(reason);
      };
      const actor = await authenticate(deps, request, path, refuse);
      const found = paths.find(({ pattern }) => pattern.test(path));
      if (found === undefined) throw notFound();
      const served = Object.hasOwn(found.methods, method) ? found.methods[method] : undefined;
      if (served === undefined) throw methodNotAllowed();
      if (!served.allowedCallers.includes(actor?.kind ?? 'none')) refuse('wrong_kind');
      const id = requireId(found.pattern.exec(path)?.[1]);
      await served.run({ ...exchange, context: { ...context, actor } }, id, query);
    },
  };
}

/** Returns the verified actor; returns undefined for a valid ticket. */
async function authenticate(
  { actors, redeemTicket }: AuthenticationDependencies,
  request: IncomingMessage,
  path: string,
  refuse: (reason: CallRefusal) => never,
): Promise<Actor | undefined> {
  const assertion = readHeader(request, 'actor');
  const ticket = readHeader(request, 'ticket');
  if (assertion === undefined) {
    if (ticket === undefined) return refuse('no_actor');
    return (await redeemTicket(ticket, requestName(request.method ?? '', path))) ? undefined : refuse('bad_ticket');
  }
  try {
    return actors.decodeFor(assertion, request.method ?? '', path);
  } catch (error) {
    if (error instanceof AssertionRejected) return refuse(error.reason);
    throw error;
  }
}

const filePath = /^\/media\/([a-z]{1,40}\/[0-9]{1,10}\/[A-Za-z0-9_-]{32}\.[a-z0-9]{1,8})$/;

export type ServeFile = (exchange: Exchange, objectKey: string, query: URLSearchParams) => Promise<void>;

export function createPublicListener(serveFile: ServeFile): Listener {
  return {
    portName: 'PORT',
    paths: [{ pattern: filePath, template: '/media/{folder}/{owner}/{file}', surface: 'api' }],
    serve: (exchange, path, query) => {
      const objectKey = filePath.exec(path)?.[1];
      if (objectKey === undefined) throw notFound();
      if (exchange.request.method !== 'GET' && exchange.request.method !== 'HEAD') throw methodNotAllowed();
      return serveFile(exchange, objectKey, query);
    },
  };
}
