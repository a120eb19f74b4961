/**
 * A compromised service: an attacker uses its NATS account to impersonate another person, a superuser, another service,
 * or the administrator (docs/adr/signed-actors.md).
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { nanos } from '@nats-io/transport-node';
import { createActorSigner, generateActorKeys } from '#libs/infrastructure/actor';
import type { Actor } from '#libs/infrastructure/contract';
import { waitFor } from '#libs/product/testing';
import { contracts } from '../../libs/product/servers/service-contracts.ts';
import { applyDemo, type Demo, demoWorkspace, type TestPlatform } from '../e2e/test-platform.ts';
import { type Intruder, takeOver } from './intruder.ts';
import { startTarget } from './attacker.ts';

const services = ['agents', 'conversations', 'media', 'transcripts', 'directory', 'events'] as const;
const root: Actor = {
  kind: 'user',
  accountId: 1,
  personId: 1,
  superuser: true,
  globalEditor: true,
  coherenceAccess: true,
};

/**
 * Returns candidates for the next token: the next numbers if the token is a number, otherwise variants of its last
 * character.
 */
function guessNext(token: string): string[] {
  const isNumber = /^[\da-z]{1,10}$/.test(token);
  const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ01234567'.split('');
  return letters.map((letter, index) =>
    isNumber ? (Number.parseInt(token, 36) + index).toString(36) : token.slice(0, -1) + letter,
  );
}

describe('a compromised service: actors and rights', () => {
  let platform: TestPlatform;
  let demo: Demo;
  let vault: number;
  const intruders = new Map<string, Intruder>();
  const as = (service: string): Intruder => {
    const found = intruders.get(service);
    if (found === undefined) throw new Error(`nobody has taken ${service} over`);
    return found;
  };

  beforeAll(async () => {
    platform = await startTarget(import.meta.url);
    demo = await applyDemo(platform, 'a');
    const classes = [{ slug: 'closed', object_kind: 'holon', label: 'Closed', plural_label: 'Closed', private: true }];
    const agents = [{ slug: 'guide', name: 'Guide', prompt: 'You guide.' }];
    const { ids } = await platform.apply({
      ...demoWorkspace('a'),
      classes,
      holons: [{ slug: 'vault', name: 'Vault', class: 'closed' }],
      agents,
    });
    vault = ids['holons']?.['vault'] ?? 0;
    for (const service of services) intruders.set(service, await takeOver(service, platform.runtime.settings));
  });
  afterAll(async () => {
    for (const { connection } of intruders.values()) await connection.close();
    await platform.stop();
  });

  const accountExists = async (email: string): Promise<boolean> =>
    (await platform.sql('select 1 from directory.accounts where email = $1', [email])).length > 0;

  it('a compromised service cannot act for an actor that the gateway has not signed', async () => {
    const key = platform.runtime.settings['ACTOR_SIGNING_KEY'] ?? generateActorKeys().signingKey;
    const [header = '', , signature = ''] = createActorSigner(key)
      .encode({ ...root, superuser: false, globalEditor: false })
      .split('.');
    const payload = Buffer.from(JSON.stringify({ actor: root, iat: 0, exp: 9_999_999_999 })).toString('base64url');
    const forged: Record<string, string> = {
      'an unsigned superuser': JSON.stringify(root),
      'the platform itself': JSON.stringify({ kind: 'system', name: 'maintenance' }),
      'a superuser signed with a key of its own': createActorSigner(generateActorKeys().signingKey).encode(root),
      'a superuser of three minutes ago': createActorSigner(key, () => Date.now() - 180_000).encode(root),
      'a person made a superuser': `${header}.${payload}.${signature}`,
      'a superuser without a signature': `${Buffer.from('{"alg":"none"}').toString('base64url')}.${payload}.`,
    };
    for (const [what, actor] of Object.entries(forged)) {
      const answer = await as('conversations').ask('directory.holons.subtree', { slug: 'vault' }, actor);
      expect({ what, answer }).toEqual({
        what,
        answer: {
          failed: true,
          body: { code: what.includes('ago') ? 'unavailable' : 'internal', message: 'The caller cannot be verified' },
        },
      });
    }
    expect(vault).toBeGreaterThan(0);
  });

  it('a compromised service gains no rights by omitting the actor', async () => {
    const answer = await as('conversations').ask('directory.holons.subtree', { slug: 'vault' });
    expect(answer).toMatchObject({ failed: true, body: { message: 'The caller cannot be verified' } });
    expect(JSON.stringify(answer)).not.toContain(String(vault));
  });

  it.each(services)('the compromised service %s does not gain superuser rights', async (service) => {
    const email = `root-${service}@evil.example`;
    const account = { email, password: 'taken by an intruder', superuser: true };
    if (service !== 'directory')
      expect(await as(service).ask('directory.accounts.create', account, JSON.stringify(root))).toBe('denied');
    expect(await as(service).ask('admin.directory.accounts.create', account, JSON.stringify(root))).toBe('denied');
    expect(await accountExists(email)).toBe(false);
  });

  it.each(services)('the compromised service %s cannot call operations of the admin CLI', async (service) => {
    const subjects = contracts
      .flatMap(({ rpcs }) => Object.values(rpcs).map(({ subject }) => subject))
      .filter((subject) => subject.startsWith('admin.'));
    expect(subjects.length).toBeGreaterThan(20);
    const answers = await Promise.all(subjects.map((subject) => as(service).ask(subject, {})));
    expect([...new Set(answers)]).toEqual(['denied']);
  });

  it('a compromised service does not gain superuser rights by letting the broker deliver a message from its stream', async () => {
    const intruder = as('media');
    const email = 'root-by-broker@evil.example';
    const stream = `${platform.runtime.settings['NATS_SUBJECT_PREFIX']}_JOBS`;
    // The test retries, because the worker of the service receives some of the messages.
    for (let attempt = 0; attempt < 20; attempt++) {
      for (const subject of ['admin.directory.accounts.create', 'directory.accounts.create']) {
        const pull = { batch: 1, expires: nanos(2_000) };
        await intruder.send(`$JS.API.CONSUMER.MSG.NEXT.${stream}.media_delete-blob`, pull, {
          reply: intruder.subject(subject),
        });
        await intruder.send(
          'jobs.media.delete-blob',
          { email, superuser: true },
          { headers: { Actor: JSON.stringify(root) } },
        );
      }
      if (await accountExists(email)) break;
    }
    await platform.cli('accounts', 'create', 'proof@example.org'); // When this command succeeds, all earlier messages have been processed.
    expect(await accountExists('proof@example.org')).toBe(true);
    expect(await accountExists(email)).toBe(false);
  });

  it('a compromised service cannot answer requests to another service', async () => {
    const intruder = as('agents');
    const heard: string[] = [];
    const tap = intruder.connection.subscribe(intruder.subject('agents.agents.get'), {
      callback: (_error, message) => void heard.push(message.reply ?? ''),
    });
    await intruder.connection.flush();
    let entered = 0;
    for (let attempt = 0; attempt < 10; attempt++) {
      await platform.call('GET', '/api/agents/guide');
      await waitFor(() => heard.length > attempt);
      const last = heard.at(-1) ?? '';
      const place = last.slice(0, last.lastIndexOf('.') + 1);
      const guesses = guessNext(last.slice(place.length));
      const actor = { ...root, personId: demo.ada, sessionKey: 'e'.repeat(32) };
      const answer = JSON.stringify({ actor, expires_at: '2099-01-01T00:00:00+00:00' });
      const flood = setInterval(() => {
        for (const token of guesses) intruder.connection.publish(place + token, answer);
      }, 1);
      const tokens = Array.from(
        { length: 20 },
        (_, index) => `svc_agentic_${String(attempt * 20 + index).padStart(32, '0')}_${'x'.repeat(43)}`,
      );
      const answers = await Promise.all(tokens.map((token) => platform.call('GET', '/api/v1/auth/whoami', { token })));
      clearInterval(flood);
      entered += answers.filter(({ status }) => status === 200).length;
    }
    tap.unsubscribe();
    expect(entered).toBe(0);
  });

  it('a compromised service cannot write a note in the name of another actor', async () => {
    const body = 'I have agreed to everything.';
    const payload = {
      key: randomUUID(),
      person_ids: [demo.ben],
      body,
      note_type: 'system',
      author_person_id: demo.ada,
    };
    for (const service of ['media', 'transcripts', 'agents'])
      expect(await as(service).send('jobs.directory.note-add', { id: randomUUID(), payload })).toBe(false);
    await platform.cli('doctor');
    expect(await platform.findInDatabase(body)).toEqual([]);
  });

  it('logs rejected calls of a compromised service without their content', async () => {
    const logs = await platform.readLogs();
    expect(logs).toContain('call refused: its caller cannot be verified');
    expect(logs).not.toContain('eyJhbGci');
  });
});
