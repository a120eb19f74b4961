/** Sign-in of a program without a browser by the device flow (RFC 8628), for the CLI. */
import {
  allowInsecureRequests,
  type Configuration,
  discovery,
  initiateDeviceAuthorization,
  None,
  pollDeviceAuthorizationGrant,
  refreshTokenGrant,
} from 'openid-client';
import { isLoopback } from '#libs/infrastructure/config';
import { systemClock } from '#libs/infrastructure/time';

export interface DeviceClient {
  readonly issuer: string;
  /** A public client that may use the device flow. */
  readonly client_id: string;
}

export interface DeviceTokens {
  /** Access token for the API; the ID token where the provider's access tokens are not JWTs. */
  readonly token: string;
  /** ISO 8601; null when unknown. */
  readonly expires_at: string | null;
  readonly refresh?: DeviceClient & { readonly token: string };
}

/**
 * Waits until a person has signed in.
 * @param show shows the URL and the code to the person
 * @throws Error when the provider is unavailable, rejects the client or the person, or the code expires
 */
export async function signInWithDevice(client: DeviceClient, show: (text: string) => void): Promise<DeviceTokens> {
  const configuration = await discover(client);
  if (configuration.serverMetadata().device_authorization_endpoint === undefined)
    throw new Error(`${client.issuer} does not support the device flow.`);
  const device = await initiateDeviceAuthorization(configuration, { scope: 'openid email offline_access' });
  show(
    device.verification_uri_complete === undefined
      ? `Open ${device.verification_uri} and enter the code ${device.user_code}.`
      : `Open ${device.verification_uri_complete} and confirm the code ${device.user_code}.`,
  );
  return toTokens(client, await pollDeviceAuthorizationGrant(configuration, device));
}

/** Returns new tokens. @throws Error when the provider is unavailable or the sign-in has ended there */
export async function refreshDeviceTokens(refresh: DeviceClient & { readonly token: string }): Promise<DeviceTokens> {
  const reply = await refreshTokenGrant(await discover(refresh), refresh.token);
  return toTokens(refresh, { ...reply, refresh_token: reply.refresh_token ?? refresh.token });
}

/** Requires TLS, except for a provider on this machine. */
function discover({ issuer, client_id: clientId }: DeviceClient): Promise<Configuration> {
  const url = new URL(issuer);
  const execute = isLoopback(url.hostname) ? [allowInsecureRequests] : [];
  return discovery(url, clientId, undefined, None(), { execute });
}

interface TokenReply {
  readonly access_token: string;
  readonly id_token?: string | undefined;
  readonly refresh_token?: string | undefined;
  readonly expires_in?: number | undefined;
}

function toTokens({ issuer, client_id }: DeviceClient, reply: TokenReply): DeviceTokens {
  const { access_token: access, id_token: id, refresh_token: refresh, expires_in: seconds } = reply;
  return {
    token: access.split('.').length === 3 || id === undefined ? access : id,
    expires_at:
      seconds === undefined ? null : new Date(Number(systemClock.now() / 1_000n) + seconds * 1_000).toISOString(),
    ...(refresh === undefined ? {} : { refresh: { issuer, client_id, token: refresh } }),
  };
}
