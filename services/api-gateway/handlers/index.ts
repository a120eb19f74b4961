/** Handlers of the routes that the gateway serves itself; their names are those in the route table. */
import type { ReplyOf, RouteInput } from '#libs/contract';
import { createDocs, createDocsAssets, type RouteHandler, type RouteHandlers } from '#libs/http';
import type { Bus } from '#libs/nats';
import { telegramWebhookSubject } from '#services/agents';
import { bookingWebhookSubject, meetingWebhookSubject } from '#services/conversations';
import { directory } from '#services/directory';
import { buildDocuments } from '../documents.ts';
import { routes } from '../routes/index.ts';
import type { Sessions } from '../sessions.ts';
import { createChatPage } from './chat-page.ts';
import type { WebhookIntake } from './webhook-intake.ts';

const bookingHeaders = ['x-cal-signature-256', 'content-type', 'x-cal-webhook-version'];
const meetingHeaders = ['rtk-signature', 'rtk-uuid', 'rtk-webhook-id'];
const telegramSecretHeader = 'x-telegram-bot-api-secret-token';

export async function createHandlers(parts: {
  bus: Bus;
  sessions: Sessions;
  intake: WebhookIntake;
  media: RouteHandler;
}): Promise<RouteHandlers<(typeof routes)[number]>> {
  const documents = buildDocuments(routes);
  const api = createDocs(documents.api, '/api/openapi.json');
  const v1 = createDocs(documents.v1, '/api/v1/openapi.json');
  const sendAsset = createDocsAssets();
  const chat = await createChatPage(parts.bus);
  return {
    media: parts.media,
    'booking-webhook': parts.intake.handler({ subject: bookingWebhookSubject, headers: bookingHeaders }),
    'meeting-webhook': parts.intake.handler({ subject: meetingWebhookSubject, headers: meetingHeaders }),
    'telegram-webhook': parts.intake.handler({ subject: telegramWebhookSubject, headers: [], secretHeader: telegramSecretHeader }),
    logout: createLogout(parts.bus, parts.sessions),
    'api-schema': ({ ctx }) => api.sendDocument(ctx),
    'api-docs': ({ ctx }) => api.sendPage(ctx),
    'v1-schema': ({ ctx }) => v1.sendDocument(ctx),
    'v1-docs': ({ ctx }) => v1.sendPage(ctx),
    ...chat,
    'docs-asset': ({ ctx, input }) => sendAsset(ctx, input.params.file),
  };
}

/** The caller must not be let in again by this replica's memory of a moment ago. */
function createLogout(bus: Bus, sessions: Sessions): RouteHandler<RouteInput, ReplyOf<typeof directory.rpcs.logout>> {
  return async ({ input, call, answer }) => {
    const { actor } = input;
    try {
      answer(await bus.call(directory.rpcs.logout, {}, call));
    } finally {
      if (actor?.kind === 'user' && actor.sessionKey !== undefined) sessions.forget(actor.sessionKey);
    }
  };
}
