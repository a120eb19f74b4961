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
} from '#libs/infrastructure/config';
import { Type } from '#libs/infrastructure/contract';

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
    description: 'days for which events and deliveries are stored; older cursors return 410',
  }),
});

export type EventsConfig = ReturnType<typeof loadEventsConfig>;

/** @throws ConfigError that lists every problem */
export function loadEventsConfig(env?: Readonly<Record<string, string | undefined>>) {
  return loadConfig(eventsSettings, env);
}
