/**
 * Admission of callers: how a responder verifies actors, and how it handles messages that are not calls
 * (docs/adr/signed-actors.md).
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { connect as connectClient, headers, nanos, type NatsConnection } from '@nats-io/transport-node';
import { createActorSigner, createActorVerifier, generateActorKeys } from '#libs/infrastructure/actor';
import { type Actor, defineService, withoutActor, rpc, Type } from '#libs/infrastructure/contract';
import { createLogger } from '#libs/infrastructure/logger';
import type { Bus, RequestContext } from '#libs/infrastructure/nats';
import { waitFor } from '#libs/product/testing';
import { connect, context, openBroker } from './parties.ts';

const open = { request: Type.Object({}), reply: Type.Object({ who: Type.String() }), summary: '' };
const desk = defineService({
  service: 'desk',
  rpcs: {
    forPeople: rpc({ subject: 'desk.thing.for-people', callers: { 'api-gateway': ['user'] }, ...open }),
    forClients: rpc({
      subject: 'desk.thing.for-clients',
      callers: { 'api-gateway': ['shared', 'user'], hall: ['user'] },
      ...open,
    }),
    forHall: rpc({ subject: 'desk.thing.for-hall', callers: { hall: withoutActor }, ...open }),
  },
  jobs: {},
  events: {},
});
const { forPeople, forClients, forHall } = desk.rpcs;
const ada: Actor = {
  kind: 'user',
  accountId: 1,
  personId: 2,
  superuser: false,
  globalEditor: false,
  coherenceAccess: false,
};
const shared: Actor = { kind: 'shared' };

describe('actor of a call over NATS', () => {
  const broker = openBroker();
  const keys = generateActorKeys();
  const signer = createActorSigner(keys.signingKey);
  const verifier = createActorVerifier(keys.publicKey);
  const refused: [string, string][] = [];
  const lines: string[] = [];
  const logger = createLogger({
    service: 'test',
    level: 'warn',
    destination: { write: (line: string) => void lines.push(line) },
  });
  let served: RequestContext[] = [];
  let gateway: Bus;
  let hall: Bus;
  let stranger: NatsConnection;
  let responder: Bus;

  beforeAll(async () => {
    responder = await connect(broker, 'desk', {
      actors: verifier,
      logger,
      metrics: { refused: (subject, reason) => void refused.push([subject, reason]) },
    });
    const handler = async (_request: unknown, ctx: RequestContext) => {
      served.push(ctx);
      return { who: ctx.actor?.kind ?? 'nobody' };
    };
    await responder.serve(desk, { forPeople: handler, forClients: handler, forHall: handler });
    await responder.ensureStreams();
    gateway = await connect(broker, 'api-gateway', { actors: signer, caller: 'api-gateway' });
    hall = await connect(broker, 'hall', { actors: verifier, caller: 'hall' });
    const { hostname, port, username, password } = new URL(broker.url);
    stranger = await connectClient({ servers: `${hostname}:${port}`, user: username, pass: password });
  });
  afterAll(async () => {
    await stranger.close();
    await responder.deleteStreams();
    await Promise.all([gateway, hall, responder].map((bus) => bus.close()));
  });
  afterEach(() => {
    served = [];
    refused.length = 0;
    lines.length = 0;
  });

  /** Sends a hand-made request, as an internal process could. */
  async function ask(subject: string, actor: string | undefined): Promise<unknown> {
    const given = headers();
    given.set('Request-Id', 'by-hand');
    if (actor !== undefined) given.set('Actor', actor);
    const reply = await stranger.request(`${broker.prefix}.${subject}`, '{}', { timeout: 10_000, headers: given });
    return reply.json();
  }
  const unverified = { code: 'internal', message: 'The caller cannot be verified' };

  it("a responder reads the actor from the gateway's assertion", async () => {
    await expect(gateway.call(forPeople, {}, { ...context(), actor: ada })).resolves.toEqual({ who: 'user' });
    expect(served[0]?.actor).toEqual(ada);
    await expect(gateway.call(forClients, {}, { ...context(), actor: shared })).resolves.toEqual({ who: 'shared' });
    await expect(hall.call(forHall, {}, context())).resolves.toEqual({ who: 'nobody' });
    expect(refused).toEqual([]);
  });

  it('a responder passes the actor on to another service, and cannot create one', async () => {
    await gateway.call(forPeople, {}, { ...context(), actor: ada });
    const given = served[0]?.actor;
    // `hall` also has the public key; here it acts like a service that was called and calls another service.
    await expect(
      hall.call(forClients, {}, { ...context(), actor: verifier.decode(signer.encode(ada)) }),
    ).resolves.toEqual({ who: 'user' });
    for (const made of [ada, { ...ada, superuser: true }, { ...given } as Actor])
      await expect(hall.call(forClients, {}, { ...context(), actor: made })).rejects.toThrow(
        'without an assertion of the gateway',
      );
    expect(refused).toEqual([]);
  });

  it('a responder rejects an actor without a valid signature of the gateway, logs it once and counts it', async () => {
    const other = createActorSigner(generateActorKeys().signingKey);
    const past = createActorSigner(keys.signingKey, () => Date.now() - 3_600_000);
    const root: Actor = { ...ada, superuser: true };
    const [header = '', , signature = ''] = signer.encode(ada).split('.');
    const payload = Buffer.from(JSON.stringify({ actor: root, iat: 1, exp: 9_999_999_999 })).toString('base64url');
    const cases: [string, string][] = [
      [JSON.stringify(root), 'malformed'],
      ['{"kind":"system","name":"x"}', 'malformed'],
      [other.encode(root), 'unknown_key'],
      [past.encode(root), 'expired'],
      [`${header}.${payload}.${signature}`, 'bad_signature'],
    ];
    for (const [actor, reason] of cases)
      expect(await ask(forPeople.subject, actor)).toEqual({
        ...unverified,
        code: reason === 'expired' ? 'unavailable' : 'internal',
      });
    expect(served).toEqual([]);
    expect(refused).toEqual(cases.map(([, reason]) => [forPeople.subject, reason]));
    expect(lines).toHaveLength(cases.length);
    for (const line of lines) expect(line).not.toContain('eyJ');
  });

  it.each([
    ['behind', 'early', 3_600_000],
    ['ahead of', 'expired', -3_600_000],
  ] as const)(
    "returns a retryable error when the responder's clock may be %s that of the gateway",
    async (_where, reason, awayMs) => {
      const away = createActorSigner(keys.signingKey, () => Date.now() + awayMs);
      expect(await ask(forPeople.subject, away.encode(ada))).toEqual({ ...unverified, code: 'unavailable' });
      expect(served).toEqual([]);
      expect(refused).toEqual([[forPeople.subject, reason]]);
    },
  );

  it('a responder rejects calls without an actor, and actors of a kind that the operation does not allow', async () => {
    expect(await ask(forPeople.subject, undefined)).toEqual(unverified);
    expect(await ask(forPeople.subject, '')).toEqual(unverified);
    expect(await ask(forPeople.subject, signer.encode(shared))).toEqual(unverified);
    expect(await ask(forHall.subject, signer.encode(ada))).toEqual(unverified);
    expect(served).toEqual([]);
    expect(refused.map(([, reason]) => reason)).toEqual(['no_actor', 'no_actor', 'wrong_kind', 'wrong_kind']);
  });

  it('a process rejects its own call of an operation that its contract does not declare as a callee', async () => {
    await expect(gateway.call(forHall, {}, context())).rejects.toThrow(
      'api-gateway may not call desk.thing.for-hall without an actor',
    );
    await expect(hall.call(forPeople, {}, context())).rejects.toThrow('hall may not call');
    await expect(hall.call(forClients, {}, context())).rejects.toThrow('without an actor');
    await expect(gateway.call(forPeople, {}, { ...context(), actor: shared })).rejects.toThrow(
      'for an actor of kind shared',
    );
    expect([served, refused]).toEqual([[], []]);
  });

  it('a responder rejects stream messages and replies that the broker delivers to its subject', async () => {
    const [stream, subject] = [`${broker.prefix}_JOBS`, `${broker.prefix}.jobs.desk.x`];
    const create = {
      stream_name: stream,
      config: { durable_name: 'thief', ack_policy: 'explicit', filter_subject: subject },
    };
    await stranger.request(`$JS.API.CONSUMER.CREATE.${stream}.thief.${subject}`, JSON.stringify(create));
    const target = `${broker.prefix}.${forHall.subject}`;
    await stranger.request(subject, '{}');
    const pull = JSON.stringify({ batch: 1, expires: nanos(5_000) });
    stranger.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.thief`, pull, { reply: target });
    stranger.publish(`$JS.API.CONSUMER.INFO.${stream}.thief`, '', { reply: target });
    stranger.publish(target, '{}'); // for nobody
    stranger.publish(target, '{}', { reply: `${broker.prefix}.jobs.desk.y` });
    await waitFor(() => refused.length >= 4);
    expect(refused).toEqual(Array.from({ length: 4 }, () => [forHall.subject, 'not_a_call']));
    expect(served).toEqual([]);
  });

  it('a responder answers on reply subjects that cannot be guessed from earlier ones', async () => {
    const seen: string[] = [];
    const tap = stranger.subscribe(`${broker.prefix}.desk.thing.*`, {
      callback: (_error, message) => void seen.push(message.reply ?? ''),
    });
    await stranger.flush();
    for (let call = 0; call < 20; call++) await hall.call(forHall, {}, context());
    await waitFor(() => seen.length === 20);
    tap.unsubscribe();
    const tokens = seen.map((reply) => reply.split('.').at(-1) ?? '');
    expect(new Set(tokens).size).toBe(20);
    // Followed by the index of the waiting call, which is not secret.
    for (const token of tokens) expect(token).toMatch(/^[A-Za-z0-9_-]{20}\d+$/);
    // 120 random bits: no two tokens share a prefix of six characters, as counted or seeded ones would.
    expect(new Set(tokens.map((token) => token.slice(0, 6))).size).toBe(20);
  });
});
