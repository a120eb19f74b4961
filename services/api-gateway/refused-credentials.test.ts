import { describe, expect, it } from '@jest/globals';
import type { AuthClass } from '#libs/infrastructure/contract';
import { AppError } from '#libs/infrastructure/errors';
import type { HttpContext } from '#libs/infrastructure/http';
import { createMetrics } from '#libs/infrastructure/telemetry';
import { countRefusedCredentials } from './refused-credentials.ts';

const refusal = new AppError({ code: 'unauthenticated', message: 'no' });
const withToken = (authorization?: string): HttpContext =>
  ({ req: { headers: { authorization } } }) as unknown as HttpContext;

async function countedBy(authenticate: () => never, auth: AuthClass, authorization?: string): Promise<string[]> {
  const metrics = createMetrics('test');
  const check = countRefusedCredentials(metrics, authenticate);
  await expect(async () => check({ auth, scope: null }, withToken(authorization))).rejects.toThrow();
  const { text } = await metrics.render();
  return [...text.matchAll(/^coherence_credentials_refused_total\{.*credential="(\w+)".*\} 1$/gm)].map(
    ([, credential]) => credential ?? '',
  );
}
const refuse = (): never => {
  throw refusal;
};
const refuseLater = (): never => Promise.reject(refusal) as never;

describe('countRefusedCredentials (rules/operations#metrics)', () => {
  it.each([
    ['v1', undefined, 'none'],
    ['v1', `Bearer svc_agentic_${'a'.repeat(32)}_x`, 'login_token'],
    ['shared', 'bearer  svc_agentic_', 'login_token'],
    ['v1', `Bearer svc_key_${'a'.repeat(16)}_x`, 'service_key'],
    ['user', 'Bearer eyJhbGciOiJSUzI1NiJ9.e30.x', 'identity_token'],
    ['shared-or-user', 'Bearer old-shared-token', 'other'],
    ['user', 'Basic YTpi', 'other'],
    ['login-gate', undefined, 'gate_key'],
  ] as const)(
    'counts a rejection by access class %s of Authorization %j as %s',
    async (auth, authorization, credential) => {
      expect(await countedBy(refuse, auth, authorization)).toEqual([credential]);
      expect(await countedBy(refuseLater, auth, authorization)).toEqual([credential]);
    },
  );

  it('does not count other failures and accepted credentials', async () => {
    const failing = (): never => {
      throw new AppError({ code: 'unavailable', message: 'away' });
    };
    expect(await countedBy(failing, 'v1')).toEqual([]);
    const metrics = createMetrics('test');
    expect(
      countRefusedCredentials(metrics, () => ({ kind: 'shared' }))(
        { auth: 'shared', scope: 'agents:read' },
        withToken(),
      ),
    ).toEqual({
      kind: 'shared',
    });
    expect((await metrics.render()).text).not.toMatch(/coherence_credentials_refused_total\{.*\} 1$/m);
  });
});
