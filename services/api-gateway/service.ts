/** Composition root of the gateway. */
import { join } from 'node:path';
import { createActorSigner } from '#libs/infrastructure/actor';
import { listSecretValues, buildNatsUrl } from '#libs/infrastructure/config';
import type { RequestOf } from '#libs/infrastructure/contract';
import { countRefusals, createApp, createHttpServer, type HttpServer, mountRoutes } from '#libs/infrastructure/http';
import type { Service } from '#libs/infrastructure/lifecycle';
import { createLogger, type Logger } from '#libs/infrastructure/logger';
import {
  type Bus,
  connectBus,
  createBusMetrics,
  measureStreams,
  requiredPayloadBytes,
} from '#libs/infrastructure/nats';
import { natsPermissions } from '#libs/infrastructure/release';
import { createSecretUseCounter, createTelemetry, type Metrics } from '#libs/infrastructure/telemetry';
import { directory } from '#services/directory';
import { createAuthenticate } from './auth.ts';
import type { GatewayConfig } from './config.ts';
import { mayHaveSession } from './console/session-cookie.ts';
import { createSessionGuard } from './console/session-guard.ts';
import { createAllowedOperations } from './console/allowed-operations.ts';
import { createCredentials } from './credentials/index.ts';
import { apiVersion } from './documents.ts';
import { createHandlers } from './handlers/index.ts';
import { createMediaProxy } from './handlers/media-proxy.ts';
import { createWebhookIntake, type WebhookIntake } from './handlers/webhook-intake.ts';
import type { IdentityProvider } from './identity-provider.ts';
import { createInvitationTokens } from './invitation-tokens.ts';
import { ChatWaits, LongPolls, readChatUpdates } from './long-polls.ts';
import { countRefusedCredentials } from './refused-credentials.ts';
import { routes } from './routes/index.ts';
import { readFeed } from './routes/v1/events.ts';
import { createLoginFilter, createSecretCheck } from './secrets.ts';

const serviceName = 'api-gateway';
/** Time for running requests at shutdown; longer uploads are aborted. */
const drainDeadlineMs = 15_000;

export interface GatewayOptions {
  config: GatewayConfig;
  logger?: Logger;
  /** Monotonic clock in milliseconds, for the cache of sessions. */
  monotonicMs?: () => number;
}

/** Creates the gateway. `start` resolves when the gateway accepts requests. */
export async function createService(options: GatewayOptions): Promise<Service & { readonly port: number }> {
  const { config } = options;
  const logger = options.logger ?? createLogger({ service: serviceName, level: config.LOG_LEVEL });
  let bus: Bus | undefined;
  let intake: WebhookIntake | undefined;
  let server: HttpServer | undefined;
  let endPolls: (() => void) | undefined;
  let port = config.PORT;
  const telemetry = createTelemetry({
    service: serviceName,
    logger,
    settings: config,
    checks: { nats: async () => await bus?.ping() },
  });
  const actors = createActorSigner(config.ACTOR_SIGNING_KEY);
  const identityProvider = await provideIdentityProvider(config, logger, telemetry.metrics);
  const media = createMediaProxy({ openUrl: config.MEDIA_URL, internalUrl: config.MEDIA_INTERNAL_URL, actors, logger });

  const start = async (): Promise<void> => {
    await telemetry.start();
    const settings = {
      url: buildNatsUrl(config),
      name: serviceName,
      prefix: config.NATS_SUBJECT_PREFIX,
      minPayloadBytes: requiredPayloadBytes,
    };
    bus = await connectBus({
      ...settings,
      caller: serviceName,
      actors,
      logger,
      metrics: createBusMetrics(telemetry.metrics),
    });
    await bus.waitForPermissions(natsPermissions()[serviceName]);
    await bus.waitForStreams();
    measureStreams(telemetry.metrics, bus);
    intake = await createWebhookIntake({
      bus,
      // Installations can share a disk, so each uses its own directory.
      dir: join(config.WEBHOOK_SPOOL_DIR, config.NATS_SUBJECT_PREFIX === '' ? 'default' : config.NATS_SUBJECT_PREFIX),
      maxSpoolBytes: config.WEBHOOK_SPOOL_MAX_BYTES,
      logger,
      metrics: telemetry.metrics,
    });
    server = await listen(bus, intake);
    port = await server.listen({ host: config.HOST, port: config.PORT });
    telemetry.started();
    logger.info({ port, metricsPort: telemetry.port, docs: `http://localhost:${port}/api/docs` }, 'gateway: listening');
  };

  const listen = async (connected: Bus, webhooks: WebhookIntake): Promise<HttpServer> => {
    const { login } = directory.rpcs;
    const filterLogin = createLoginFilter(config);
    const { invalidateSession, ...credentials } = createCredentials(connected, identityProvider, options.monotonicMs);
    const polls = new LongPolls(connected, {
      max: config.MAX_IN_FLIGHT_REQUESTS,
      maxPerAccount: config.EVENTS_WAITING_PER_ACCOUNT,
    });
    const chatWaits = new ChatWaits(connected, config.MAX_IN_FLIGHT_REQUESTS);
    endPolls = () => {
      polls.stop();
      chatWaits.stop();
    };
    const requests = telemetry.metrics.red('http_requests', 'HTTP requests', ['method', 'route']);
    const refused = countRefusals(telemetry.metrics);
    const corsAllowedOrigins = splitList(config.CORS_ALLOWED_ORIGINS);
    const app = createApp({
      logger,
      apiVersion,
      corsAllowedOrigins,
      corsAllowedHeaders: splitList(config.CORS_ALLOWED_HEADERS),
      trustedProxyHops: config.TRUSTED_PROXY_HOPS,
      observe: ({ method, route, status, seconds, traceparent }) =>
        requests.observe({ method, route }, status, seconds, traceparent),
      refused,
    });
    const checkOf = (name: 'API_TOKEN' | 'API_LOGIN_SECRET') => {
      const values = listSecretValues(config[name]);
      return createSecretCheck(values, createSecretUseCounter(telemetry.metrics, name, values.length));
    };
    const authenticate = createAuthenticate({
      isSharedToken: checkOf('API_TOKEN'),
      isGateKey: checkOf('API_LOGIN_SECRET'),
      ...credentials,
      refuseLogin: (ip, call) => connected.call(directory.rpcs.refuseLogin, { ip }, call),
    });
    app.use(createSessionGuard({ isEnabled: config.CONSOLE_ENABLED, isAllowed: createAllowedOperations(routes) }));
    mountRoutes(app, routes, {
      authenticate: countRefusedCredentials(telemetry.metrics, authenticate),
      callRaw: (rpc, request, call, ctx) => {
        if (rpc === readFeed) return polls.read(request as RequestOf<typeof readFeed>, call, ctx);
        if (rpc === readChatUpdates) return chatWaits.read(request as RequestOf<typeof readChatUpdates>, call, ctx);
        return connected.callRaw(rpc, rpc === login ? filterLogin(request as RequestOf<typeof login>) : request, call);
      },
      handlers: createHandlers({
        bus: connected,
        filterLogin,
        invalidateSession,
        invitations: createInvitationTokens(config.ACTOR_SIGNING_KEY),
        intake: webhooks,
        media,
        providerSignIn: identityProvider?.providerSignIn,
        telemetry,
        corsAllowedOrigins,
        embedOrigins: config.CHAT_EMBED_ORIGINS.split(/\s+/).filter((origin) => origin !== ''),
      }),
      maxInFlight: config.MAX_IN_FLIGHT_REQUESTS,
    });
    return createHttpServer(app.callback(), {
      apiVersion,
      portName: 'PORT',
      maxConnections: config.MAX_CONNECTIONS,
      isAnonymous: ({ headers }) => headers.authorization === undefined && !mayHaveSession(headers.cookie),
      refused,
    });
  };

  const stop = async (): Promise<void> => {
    telemetry.draining();
    endPolls?.();
    await server?.drain({ windowMs: config.DRAIN_WINDOW_SECONDS * 1000, deadlineMs: drainDeadlineMs });
    await intake?.stop();
    media.close();
    await identityProvider?.close();
    await bus?.close();
    await telemetry.stop();
  };

  return {
    start,
    stop,
    get port() {
      return port;
    },
  };
}

/** Connects the configured identity provider; returns undefined when none is configured. */
async function provideIdentityProvider(
  config: GatewayConfig,
  logger: Logger,
  metrics: Metrics,
): Promise<IdentityProvider | undefined> {
  const { OIDC_ISSUER: issuer } = config;
  if (issuer === undefined) return undefined;
  const { connectIdentityProvider } = await import('./identity-provider.ts');
  return connectIdentityProvider({ config, issuer, logger, metrics });
}

function splitList(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}
