/** Dependencies that service.ts creates once and passes to all handlers of the gateway. */
import type { RouteHandler } from '#libs/infrastructure/http';
import type { Bus } from '#libs/infrastructure/nats';
import type { Telemetry } from '#libs/infrastructure/telemetry';
import type { ProviderSignIn } from './console/sign-in.ts';
import type { WebhookIntake } from './handlers/webhook-intake.ts';
import type { InvitationTokens } from './invitation-tokens.ts';
import type { LoginFilter } from './secrets.ts';

export interface Dependencies {
  readonly bus: Bus;
  readonly filterLogin: LoginFilter;
  /** Removes a session from the caches of this process. */
  readonly invalidateSession: (key: string) => void;
  readonly invitations: InvitationTokens;
  readonly intake: WebhookIntake;
  readonly media: RouteHandler;
  /** Sign-in to the console at the identity provider, if configured. */
  readonly providerSignIn: ((bus: Pick<Bus, 'call'>) => ProviderSignIn) | undefined;
  readonly telemetry: Pick<Telemetry, 'describe'>;
  /** Sites that can embed the chat in a frame. */
  readonly embedOrigins: readonly string[];
  /** Sites whose pages can call the API; `*` allows all. */
  readonly corsAllowedOrigins: readonly string[];
}
