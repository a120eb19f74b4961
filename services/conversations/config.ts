import {
  actorSettings,
  databaseSettings,
  loadConfig,
  logSettings,
  telemetrySettings,
  natsSettings,
  replySettings,
  outboundSettings,
  rotatedSecret,
  secret,
  webhookSettings,
  type ConfigOf,
} from '#libs/infrastructure/config';
import { Type } from '#libs/infrastructure/contract';

export const conversationsSettings = Type.Object({
  ...natsSettings,
  ...replySettings,
  ...actorSettings,
  ...databaseSettings,
  ...logSettings,
  ...telemetrySettings,
  ...outboundSettings,
  ...webhookSettings,
  BOOKING_WEBHOOK_SECRET: rotatedSecret({
    default: '',
    description: 'secret of the Cal.com signature; empty = bookings are rejected unless ALLOW_UNSIGNED_WEBHOOKS is set',
    neededUnless: 'ALLOW_UNSIGNED_WEBHOOKS',
  }),
  CALCOM_API_KEY: secret(
    Type.String({
      default: '',
      description: 'API key of Cal.com, to find lost bookings and cancelled occurrences of a series; empty = not used',
    }),
  ),
  CALCOM_API_URL: Type.String({
    default: 'https://api.cal.com/v2',
    pattern: '^https?://[^\\s]+$',
    description: "URL of Cal.com's API, without /bookings",
  }),
  REALTIMEKIT_WEBHOOK_PUBLIC_KEY: Type.String({
    default: '',
    description: "public key of the meeting provider's webhooks in PEM; empty = read from REALTIMEKIT_WEBHOOK_KEY_URL",
  }),
  REALTIMEKIT_WEBHOOK_KEY_URL: Type.String({
    default: 'https://api.realtime.cloudflare.com/.well-known/webhooks.json',
    pattern: '^https?://[^\\s]+$',
    description: "URL of the public key of the meeting provider's webhooks",
  }),
  CONVERSATION_ACCESS: Type.Union([Type.Literal('open'), Type.Literal('members')], {
    default: 'open',
    description:
      'conversations that a per-user token can read and write: `open` = all; `members` = those of its person and of events in its team authority (coherence access: all)',
  }),
  DELETED_RETENTION_DAYS: Type.Integer({
    default: 30,
    minimum: 1,
    maximum: 3_650,
    description: 'days before a deleted conversation is removed permanently',
  }),
  BOOKING_CREATE_ATTENDEES: Type.Boolean({
    default: true,
    description: 'whether to create people for unknown attendees of bookings',
  }),
});

export type ConversationsConfig = ConfigOf<typeof conversationsSettings.properties>;

/** @throws ConfigError with every problem */
export function loadConversationsConfig(env?: Readonly<Record<string, string | undefined>>): ConversationsConfig {
  return loadConfig(conversationsSettings, env);
}
