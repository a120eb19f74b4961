/**
 * The identity provider of the platform (rules/access#identity-provider). This module is loaded only when a provider is
 * configured, because its libraries are half of the gateway's modules.
 */
import { ConfigError, listSecretValues } from '#libs/infrastructure/config';
import type { Logger } from '#libs/infrastructure/logger';
import {
  createCodeSignIn,
  createProvider,
  createSigningKeys,
  createVerifier,
  explainFailure,
  findUrlProblem,
  signInFailures,
  TokenRejectedError,
  tokenRejections,
  type Verifier,
} from '#libs/infrastructure/oidc';
import { createOutbound } from '#libs/infrastructure/outbound';
import type { Metrics } from '#libs/infrastructure/telemetry';
import type { GatewayConfig } from './config.ts';
import { createProviderSignIn, type ProviderSignInParts } from './console/sign-in.ts';
import type { Dependencies } from './dependencies.ts';

export interface IdentityProvider {
  /** Verifies bearer tokens; undefined when bearer tokens of the provider are not accepted. */
  readonly verifier: Verifier | undefined;
  /** Sign-in to the console at the provider; undefined when the console uses email and password. */
  readonly providerSignIn: Dependencies['providerSignIn'];
  /** Counts rejected tokens by reason; ignores other errors. */
  readonly countRefusal: (error: unknown) => void;
  close(): Promise<void>;
}

export interface IdentityProviderOptions {
  readonly config: GatewayConfig;
  readonly issuer: string;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** @throws ConfigError when the address of the issuer is not allowed */
export function connectIdentityProvider({
  config,
  issuer,
  logger,
  metrics,
}: IdentityProviderOptions): IdentityProvider {
  const {
    OUTBOUND_ALLOWED_HOSTS: allowedHosts,
    OIDC_AUDIENCE: audience,
    OIDC_CLIENT_ID: clientId,
    OIDC_CLIENT_SECRET: clientSecret,
  } = config;
  const problem = findUrlProblem(issuer, allowedHosts);
  if (problem !== undefined) throw new ConfigError([`OIDC_ISSUER ${problem}`]);
  const outbound = createOutbound({ allowedHosts, baseUrls: [issuer], metrics });
  const provider = createProvider({ issuer, outbound, allowedHosts });
  const keys = createSigningKeys({
    provider,
    onFailure: (error) => logger.warn({ err: error }, 'the identity provider gave no keys'),
  });
  const refused = metrics.counter(
    'identity_tokens_refused_total',
    'Tokens of the identity provider that were refused, by reason',
    {
      reason: tokenRejections,
    },
  );
  const failed = metrics.counter(
    'console_sign_ins_failed_total',
    'Sign-ins to the console at the identity provider that failed, by reason',
    {
      reason: signInFailures,
    },
  );
  const onFailure: ProviderSignInParts['onFailure'] = (error, { requestId }) => {
    const { failure: reason, detail } = explainFailure(error);
    failed.inc({ reason });
    logger.warn({ reason, detail, requestId }, 'console sign-in: failed');
  };
  const client = {
    provider,
    keys,
    outbound,
    allowedHosts,
    clientSecret: clientSecret === '' ? undefined : clientSecret,
    // Only the replicas know this key, and it is as sensitive as the sealed values.
    secret: config.ACTOR_SIGNING_KEY,
  };
  return {
    verifier:
      audience === undefined ? undefined : createVerifier({ issuer, audiences: listSecretValues(audience), keys }),
    providerSignIn:
      clientId === undefined
        ? undefined
        : (bus) => createProviderSignIn({ bus, codeSignIn: createCodeSignIn({ ...client, clientId }), onFailure }),
    countRefusal: (error) => (error instanceof TokenRejectedError ? refused.inc({ reason: error.refusal }) : undefined),
    close: () => outbound.close(),
  };
}
