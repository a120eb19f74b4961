/** Handlers of the routes that the gateway serves itself, by the handler names in the route table. */
import type { ReplyOf, RouteInput } from '#libs/infrastructure/contract';
import {
  createDocs,
  createDocsAssets,
  createDocument,
  type RouteHandler,
  type RouteHandlers,
} from '#libs/infrastructure/http';
import type { Bus } from '#libs/infrastructure/nats';
import { telegramWebhookSubject } from '#services/agents';
import { bookingWebhookSubject, meetingWebhookSubject } from '#services/conversations';
import { directory } from '#services/directory';
import type { Dependencies } from '../dependencies.ts';
import { buildAsyncApi } from '../asyncapi.ts';
import { buildDocument } from '../documents.ts';
import { routes } from '../routes/index.ts';
import { createAccountHandlers } from './accounts.ts';
import { createAuditHandlers } from './audit.ts';
import { createAgentHandlers } from './ops/agents.ts';
import { createJobHandlers } from './ops/jobs.ts';
import { createOverviewHandlers } from './ops/overview.ts';
import { createPipelineHandlers } from './ops/pipelines.ts';
import { createThreadHandlers } from './ops/threads.ts';
import { createWebhookHandlers } from './ops/webhooks.ts';
import { createTimelineHandlers } from './timeline.ts';
import { createChatPageHandlers } from './chat-page.ts';
import { createConsoleHandlers } from './console.ts';
import { createMcpHandlers } from './mcp.ts';

const bookingHeaders = ['x-cal-signature-256', 'content-type', 'x-cal-webhook-version'];
const meetingHeaders = ['rtk-signature', 'rtk-uuid', 'rtk-webhook-id'];
const telegramHeaders = ['content-type', 'user-agent'];
const telegramSecretHeader = 'x-telegram-bot-api-secret-token';

export function createHandlers(deps: Dependencies): RouteHandlers<(typeof routes)[number]> {
  const { bus, invalidateSession, intake } = deps;
  const api = createDocs(() => buildDocument(routes, 'api'), '/api/openapi.json');
  const v1 = createDocs(() => buildDocument(routes, 'v1'), '/api/v1/openapi.json');
  const ops = createDocs(() => buildDocument(routes, 'ops'), '/api/ops/openapi.json');
  const sendAsyncApi = createDocument(buildAsyncApi);
  const sendAsset = createDocsAssets();
  return {
    media: deps.media,
    'booking-webhook': intake.handler({ subject: bookingWebhookSubject, headers: bookingHeaders }),
    'meeting-webhook': intake.handler({ subject: meetingWebhookSubject, headers: meetingHeaders }),
    'telegram-webhook': intake.handler({
      subject: telegramWebhookSubject,
      headers: telegramHeaders,
      secretHeader: telegramSecretHeader,
    }),
    logout: createLogout(bus, invalidateSession),
    'revoke-session': createRevokeSession(bus, invalidateSession),
    'api-schema': ({ ctx }) => api.sendDocument(ctx),
    'api-docs': ({ ctx }) => api.sendPage(ctx),
    'v1-schema': ({ ctx }) => v1.sendDocument(ctx),
    'v1-docs': ({ ctx }) => v1.sendPage(ctx),
    'v1-events-schema': ({ ctx }) => sendAsyncApi(ctx),
    'ops-schema': ({ ctx }) => ops.sendDocument(ctx),
    'ops-docs': ({ ctx }) => ops.sendPage(ctx),
    ...createTimelineHandlers(deps),
    ...createAccountHandlers(deps),
    ...createAuditHandlers(deps),
    ...createJobHandlers(deps),
    ...createWebhookHandlers(deps),
    ...createPipelineHandlers(deps),
    ...createThreadHandlers(deps),
    ...createAgentHandlers(deps),
    ...createOverviewHandlers(deps),
    ...createMcpHandlers(routes, deps),
    ...createChatPageHandlers(deps),
    ...createConsoleHandlers(deps),
    'docs-asset': ({ ctx, input }) => sendAsset(ctx, input.params.file),
  };
}

/** Invalidates the cached session, so that this process rejects its token immediately. */
function createRevokeSession(
  bus: Bus,
  invalidateSession: (key: string) => void,
): RouteHandler<RouteInput<{ readonly session_id: string }>, ReplyOf<typeof directory.rpcs.revokeSession>> {
  return async ({ input, call, answer }) => {
    const { session_id: sessionId } = input.params;
    try {
      answer(await bus.call(directory.rpcs.revokeSession, { session_id: sessionId }, call));
    } finally {
      invalidateSession(sessionId);
    }
  };
}

/** Invalidates the cached session, so that this process rejects its token immediately. */
function createLogout(
  bus: Bus,
  invalidateSession: (key: string) => void,
): RouteHandler<RouteInput, ReplyOf<typeof directory.rpcs.logout>> {
  return async ({ input, call, answer }) => {
    const { actor } = input;
    try {
      answer(await bus.call(directory.rpcs.logout, {}, call));
    } finally {
      if (actor?.kind === 'user' && actor.sessionKey !== undefined) invalidateSession(actor.sessionKey);
    }
  };
}
