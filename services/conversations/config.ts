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
} from '#libs/config';
import { Type } from '#libs/contract';

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
    description: 'secret of the Cal.com signature; empty = no booking is taken, unless ALLOW_UNSIGNED_WEBHOOKS is set',
    neededUnless: 'ALLOW_UNSIGNED_WEBHOOKS',
  }),
  CALCOM_API_KEY: secret(
    Type.String({
      default: '',
      description:
        'key of the API of Cal.com, which is asked every day for bookings whose webhooks never came, and for the rest of a series that is cancelled; empty = nobody asks',
    }),
  ),
  CALCOM_API_URL: Type.String({
    default: 'https://api.cal.com/v2',
    pattern: '^https?://[^\\s]+$',
    description: 'API of Cal.com, ends before /bookings',
  }),
  REALTIMEKIT_WEBHOOK_PUBLIC_KEY: Type.String({
    default: '',
    description: "public key of the meeting provider's webhooks in PEM; empty = read from REALTIMEKIT_WEBHOOK_KEY_URL",
  }),
  REALTIMEKIT_WEBHOOK_KEY_URL: Type.String({
    default: 'https://api.realtime.cloudflare.com/.well-known/webhooks.json',
    pattern: '^https?://[^\\s]+$',
    description: "address of the public key of the meeting provider's webhooks",
  }),
  CONVERSATION_ACCESS: Type.Union([Type.Literal('open'), Type.Literal('members')], {
    default: 'open',
    description:
      'whose conversations a per-user token reads and writes: `open` = all; `members` = where its person takes part or its team authority covers the event (coherence access: all)',
  }),
  DELETED_RETENTION_DAYS: Type.Integer({
    default: 30,
    minimum: 1,
    maximum: 3_650,
    description: 'days for which a deleted conversation is kept and can be restored; then it is removed for good, everywhere',
  }),
  BOOKING_CREATE_ATTENDEES: Type.Boolean({ default: true, description: 'whether an unknown attendee of a booking becomes a person' }),
});

export type ConversationsConfig = ConfigOf<typeof conversationsSettings.properties>;

/** @throws ConfigError with every problem */
export function loadConversationsConfig(env?: Readonly<Record<string, string | undefined>>): ConversationsConfig {
  return loadConfig(conversationsSettings, env);
}
