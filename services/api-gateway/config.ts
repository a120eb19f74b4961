/** Settings of the gateway (architecture#configuration). */
import {
  actorSigningSettings,
  drainSettings,
  hostSetting,
  loadConfig,
  logSettings,
  telemetrySettings,
  natsSettings,
  ownSecret,
  portSetting,
  urlSetting,
} from '#libs/config';
import { Type } from '#libs/contract';

export const gatewaySettings = Type.Object({
  ...natsSettings,
  ...actorSigningSettings,
  ...logSettings,
  ...telemetrySettings,
  ...drainSettings,
  HOST: hostSetting('public HTTP'),
  PORT: portSetting('public HTTP', 8080),
  API_TOKEN: ownSecret(Type.String({ minLength: 1, description: "shared token of the platform's own clients" })),
  API_LOGIN_SECRET: ownSecret(Type.String({ minLength: 1, description: 'gate key of the login' })),
  CORS_ALLOWED_ORIGINS: Type.String({ default: '', description: 'comma-separated origins, e.g. https://app.example.org' }),
  MEDIA_URL: { ...urlSetting('HTTP of the media service for files under /media', 'http|https'), default: 'http://localhost:8081' },
  MEDIA_INTERNAL_URL: { ...urlSetting('internal HTTP of the media service', 'http|https'), default: 'http://localhost:8082' },
  TRUSTED_PROXY_HOPS: Type.Integer({
    default: 0,
    minimum: 0,
    maximum: 10,
    description: 'proxies in front that append to X-Forwarded-For; 0 = the peer is the client',
  }),
  MAX_IN_FLIGHT_REQUESTS: Type.Integer({
    default: 1000,
    minimum: 1,
    maximum: 100_000,
    description: 'requests with a credential that are worked on at once, and as many without; more are answered 503',
  }),
  MAX_CONNECTIONS: Type.Integer({
    default: 16_000,
    minimum: 10,
    maximum: 1_000_000,
    description: 'client connections at once, 11 to 14 KiB each while idle; for one more a silent, unused or anonymous one is closed',
  }),
  WEBHOOK_SPOOL_DIR: Type.String({ default: '.data/spool', minLength: 1, description: 'webhooks are kept here while the broker is away' }),
  WEBHOOK_SPOOL_MAX_BYTES: Type.Integer({ default: 1_073_741_824, minimum: 0, description: 'size of the spool' }),
});

export type GatewayConfig = ReturnType<typeof loadGatewayConfig>;

/** @throws ConfigError with every problem. */
export function loadGatewayConfig(env?: Readonly<Record<string, string | undefined>>) {
  return loadConfig(gatewaySettings, env);
}
