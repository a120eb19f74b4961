/** Settings of the events service (architecture#configuration). */
import {
  actorSettings,
  databaseSettings,
  loadConfig,
  logSettings,
  natsSettings,
  replySettings,
  telemetrySettings,
  webhookHostSettings,
} from '#libs/config';
import { Type } from '#libs/contract';

export const eventsSettings = Type.Object({
  ...natsSettings,
  ...replySettings,
  ...actorSettings,
  ...databaseSettings,
  ...logSettings,
  ...telemetrySettings,
  ...webhookHostSettings,
  EVENTS_RETENTION_DAYS: Type.Integer({
    default: 30,
    minimum: 1,
    maximum: 400,
    description: 'days for which the feed keeps events, and what was sent of them; a cursor from before is answered 410',
  }),
});

export type EventsConfig = ReturnType<typeof loadEventsConfig>;

/** @throws ConfigError with every problem. */
export function loadEventsConfig(env?: Readonly<Record<string, string | undefined>>) {
  return loadConfig(eventsSettings, env);
}
