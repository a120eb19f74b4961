import { describe, expect, it } from '@jest/globals';
import { generateActorKeys } from '#libs/infrastructure/actor';
import { loadGatewayConfig } from './config.ts';

const needed = {
  ACTOR_SIGNING_KEY: generateActorKeys().signingKey,
  NATS_URL: 'nats://localhost',
  API_TOKEN: 'token',
  API_LOGIN_SECRET: 'key',
};

describe('the shared secrets of the gateway (K8)', () => {
  it.each(['API_TOKEN', 'API_LOGIN_SECRET'])('accepts one to four values: %s', (name) => {
    expect(loadGatewayConfig({ ...needed, [name]: ' new\nold\tolder oldest ' })).toMatchObject({
      [name]: ' new\nold\tolder oldest ',
    });
    expect(() => loadGatewayConfig({ ...needed, [name]: 'a b c d e' })).toThrow(
      `${name} must be one value, or up to 4 separated by white space`,
    );
    expect(() => loadGatewayConfig({ ...needed, [name]: ' \n' })).toThrow(`${name} must be one value`);
  });

  it('validates each value of a secret when the gateway is reachable from other machines', () => {
    const long = 'x'.repeat(24);
    const exposed = { ...needed, NODE_ENV: 'production', API_LOGIN_SECRET: long };
    expect(() => loadGatewayConfig({ ...exposed, API_TOKEN: `${long} demo-api-token` })).toThrow(
      'API_TOKEN, value 2, is, or holds',
    );
    expect(() => loadGatewayConfig({ ...exposed, API_TOKEN: `${long} ${long.slice(1)}` })).toThrow(
      'API_TOKEN, value 2, is shorter than 24',
    );
    expect(() => loadGatewayConfig({ ...exposed, API_TOKEN: `${long} ${long}y` })).not.toThrow();
  });
});

describe('the identity provider of the gateway (S1)', () => {
  const issuer = 'https://id.example.org/realms/team';

  it('requires issuer and audience together, or neither', () => {
    expect(loadGatewayConfig(needed)).not.toHaveProperty('OIDC_ISSUER');
    expect(loadGatewayConfig({ ...needed, OIDC_ISSUER: issuer, OIDC_AUDIENCE: 'api' })).toMatchObject({
      OIDC_ISSUER: issuer,
    });
    expect(() => loadGatewayConfig({ ...needed, OIDC_ISSUER: issuer })).toThrow(
      'OIDC_ISSUER needs OIDC_AUDIENCE, OIDC_CLIENT_ID or both',
    );
    expect(() => loadGatewayConfig({ ...needed, OIDC_AUDIENCE: 'api' })).toThrow('OIDC_AUDIENCE needs OIDC_ISSUER');
    expect(() => loadGatewayConfig({ ...needed, OIDC_CLIENT_ID: 'console' })).toThrow(
      'OIDC_CLIENT_ID needs OIDC_ISSUER',
    );
    expect(loadGatewayConfig({ ...needed, OIDC_ISSUER: issuer, OIDC_CLIENT_ID: 'console' })).toMatchObject({
      OIDC_CLIENT_ID: 'console',
    });
    expect(() => loadGatewayConfig({ ...needed, OIDC_ISSUER: 'id.example.org', OIDC_AUDIENCE: 'api' })).toThrow(
      'OIDC_ISSUER must be a URL',
    );
  });
});
