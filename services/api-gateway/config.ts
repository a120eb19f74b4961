/** Settings of the gateway (architecture#configuration). */
import {
  actorSigningSettings,
  ConfigError,
  drainSettings,
  hostSetting,
  issuerSetting,
  loadConfig,
  logSettings,
  telemetrySettings,
  natsSettings,
  outboundSettings,
  portSetting,
  rotatedSecret,
  secret,
  urlSetting,
} from '#libs/infrastructure/config';
import { Type } from '#libs/infrastructure/contract';

export const gatewaySettings = Type.Object({
  ...natsSettings,
  ...actorSigningSettings,
  ...logSettings,
  ...telemetrySettings,
  ...drainSettings,
  ...outboundSettings,
  HOST: hostSetting('public HTTP'),
  PORT: portSetting('public HTTP', 8080),
  API_TOKEN: rotatedSecret({ description: "shared token of the platform's own clients" }),
  API_LOGIN_SECRET: rotatedSecret({ description: 'gate key of the login' }),
  OIDC_ISSUER: issuerSetting,
  OIDC_AUDIENCE: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'required `aud` of identity provider tokens, or several separated by white space; unset = no tokens',
    }),
  ),
  OIDC_CLIENT_ID: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'client id of the console at the identity provider; unset = sign-in by email and password',
    }),
  ),
  OIDC_CLIENT_SECRET: secret(
    Type.String({ default: '', description: 'client secret; empty = public client, with PKCE only' }),
  ),
  CORS_ALLOWED_ORIGINS: Type.String({
    default: '',
    description: 'comma-separated origins, e.g. https://app.example.org',
  }),
  CORS_ALLOWED_HEADERS: Type.String({
    default: 'Authorization, Content-Type',
    pattern: "^\\s*(?:[A-Za-z0-9!#$%&'*+.^_`|~-]+\\s*(?:,\\s*|$))*$",
    errorMessage: 'must be names of headers, separated by commas, such as Authorization, Content-Type, If-None-Match',
    description: 'comma-separated request headers of these origins; Authorization and Content-Type are always allowed',
  }),
  CHAT_EMBED_ORIGINS: Type.String({
    default: '',
    pattern: '^\\s*(?:https?://[A-Za-z0-9.-]+(?::[0-9]{1,5})?(?:\\s+|$))*$',
    errorMessage: 'must be origins such as https://www.example.org, separated by spaces',
    description: 'origins of sites that can embed the chat, separated by spaces, e.g. https://www.example.org',
  }),
  MEDIA_URL: {
    ...urlSetting('HTTP of the media service for files under /media', 'http|https'),
    default: 'http://localhost:8081',
  },
  MEDIA_INTERNAL_URL: {
    ...urlSetting('internal HTTP of the media service', 'http|https'),
    default: 'http://localhost:8082',
  },
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
    description:
      'concurrent requests with a credential, as many without, as many visitor messages, and as many waiting for events; others get 503',
  }),
  EVENTS_WAITING_PER_ACCOUNT: Type.Integer({
    default: 20,
    minimum: 1,
    maximum: 100_000,
    description: 'waiting event requests per account and process; others get 429',
  }),
  MAX_CONNECTIONS: Type.Integer({
    default: 16_000,
    minimum: 10,
    maximum: 1_000_000,
    description: 'concurrent client connections, 11 to 14 KiB each; above it idle or anonymous ones are closed',
  }),
  CONSOLE_ENABLED: Type.Boolean({
    default: true,
    description: 'serve the console at /console',
  }),
  WEBHOOK_SPOOL_DIR: Type.String({
    default: '.data/spool',
    minLength: 1,
    description: 'directory for webhooks while the broker is unavailable',
  }),
  WEBHOOK_SPOOL_MAX_BYTES: Type.Integer({
    default: 1_073_741_824,
    minimum: 0,
    description: 'maximum bytes of the spool on disk',
  }),
});

export type GatewayConfig = ReturnType<typeof loadGatewayConfig>;

/** @throws ConfigError that lists every problem */
export function loadGatewayConfig(env?: Readonly<Record<string, string | undefined>>) {
  const config = loadConfig(gatewaySettings, env);
  const { OIDC_ISSUER: issuer, OIDC_AUDIENCE: audience, OIDC_CLIENT_ID: client } = config;
  if (issuer === undefined && audience !== undefined) throw new ConfigError(['OIDC_AUDIENCE needs OIDC_ISSUER']);
  if (issuer === undefined && client !== undefined) throw new ConfigError(['OIDC_CLIENT_ID needs OIDC_ISSUER']);
  if (issuer !== undefined && audience === undefined && client === undefined)
    throw new ConfigError(['OIDC_ISSUER needs OIDC_AUDIENCE, OIDC_CLIENT_ID or both']);
  return config;
}
