/**
 * Tests each NATS user without one of its permissions. The missing permission is reported and the service is not ready;
 * it recovers when the permission is granted.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLogger } from '#libs/infrastructure/logger';
import { type Bus, connectBus, type Permissions } from '#libs/infrastructure/nats';
import { natsPermissions } from '#libs/infrastructure/release';
import { createTestEnvironment, runCli, type TestEnvironment, waitFor } from '#libs/product/testing';
import { createService } from '../../../services/events/service.ts';
import { provideGoTool } from '../../../libs/product/servers/go-tool.ts';
import { natsServerTool } from '../../../libs/product/servers/go-tools.ts';
import { type NatsServer, startNats } from '../../../libs/product/servers/nats.ts';
import { findFreePort } from '../../../libs/product/servers/ports.ts';
import { loadServiceConfig } from '../../../libs/product/servers/service-settings.ts';
import { handlers, library } from './parties.ts';

const password = 'a-password-of-this-test';
const all = natsPermissions();
const release = 'use files/nats.conf of this release';
const logger = createLogger({ service: 'test', level: 'silent' });

type Kind = keyof Permissions;
interface Removal {
  readonly login: string;
  readonly user: string;
  readonly kind: Kind;
  readonly subject: string;
}

/** One login for each permission of each user, which has all permissions except that one. */
const removals: readonly Removal[] = Object.entries(all).flatMap(([user, permissions]) =>
  (['publish', 'subscribe'] as const).flatMap((kind) =>
    permissions[kind].map((subject, index) => ({ login: `${user}-${kind}-${index}`, user, kind, subject })),
  ),
);

const describeUser = (login: string, { publish, subscribe }: Permissions) => ({
  user: login,
  password,
  permissions: { publish: { allow: publish }, subscribe: { allow: subscribe } },
});

const without = ({ user, kind, subject }: Removal): Permissions => {
  const permissions = all[user] ?? { publish: [], subscribe: [] };
  const rest = permissions[kind].filter((other) => other !== subject);
  // An empty list would allow everything, so it is replaced by an unused subject.
  return { ...permissions, [kind]: rest.length === 0 ? ['nothing.else'] : rest };
};

const runScript = (
  file: string,
  variables: Readonly<Record<string, string>>,
): Promise<{ code: number; stderr: string }> =>
  new Promise((resolve) => {
    execFile(process.execPath, [file], { env: { PATH: process.env['PATH'], ...variables } }, (error, _stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stderr }),
    );
  });

const libraryPermissions: Permissions = {
  publish: ['$SYS.REQ.USER.INFO', '_INBOX.>'],
  subscribe: ['_INBOX.library.>', 'library.*.*', '$SRV.>'],
};
const crippledLibrary = { ...libraryPermissions, subscribe: ['_INBOX.library.>', '$SRV.>', 'library.books.print'] };

describe('permissions on NATS (rules/operations#permissions-on-nats)', () => {
  const dir = mkdtempSync(join(tmpdir(), 'coherence-nats-'));
  let server: NatsServer;
  let env: TestEnvironment;
  const eventsInbox = all['events']?.subscribe.filter((subject) => subject !== 'events.*.*') ?? [];

  beforeAll(async () => {
    env = await createTestEnvironment(import.meta.url);
    server = await startNats({
      program: await provideGoTool(natsServerTool, () => {}),
      dataDir: join(dir, 'data'),
      logFile: join(dir, 'nats.log'),
      durable: false,
      users: [
        { user: 'admin', password },
        ...removals.map((removal) => describeUser(removal.login, without(removal))),
        ...Object.entries(all).map(([user, permissions]) => describeUser(user, permissions)),
        describeUser('library', crippledLibrary),
        describeUser('events-changing', { publish: all['events']?.publish ?? [], subscribe: eventsInbox }),
      ],
    });
  });
  afterAll(async () => {
    await env.stop();
    await server.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  const urlOf = (login: string): string => server.url.replace('://', `://${login}:${password}@`);
  const open = (login: string, name: string): Promise<Bus> => connectBus({ url: urlOf(login), name, logger });

  /** Changes the server configuration at run time. */
  function change(from: string, to: string): void {
    const file = join(dir, 'data', 'nats-server.conf');
    const text = readFileSync(file, 'utf8');
    expect(text).toContain(from);
    writeFileSync(file, text.replace(from, to));
    process.kill(server.identity.pid, 'SIGHUP');
  }

  it.each(Object.keys(all))('lists every missing permission of the user %s', async (user) => {
    for (const { login, kind, subject } of removals.filter((removal) => removal.user === user)) {
      const lame = await open(login, user);
      const problem = await lame.findMissingPermissions(all[user] ?? { publish: [], subscribe: [] });
      await lame.close();
      // The connection reports its own inbox subject.
      const named = subject === `_INBOX.${user}.>` ? `_INBOX.${user}.` : subject;
      expect(problem).toContain(`may not ${kind === 'publish' ? 'publish' : 'subscribe'} to ${named}`);
      expect(problem).toContain(release);
    }
    const bus = await open(user, user);
    await expect(bus.findMissingPermissions(all[user] ?? { publish: [], subscribe: [] })).resolves.toBeUndefined();
    await bus.close();
  });

  it('reports a process as not ready while a subscription is rejected, counts the rejection, and subscribes when permitted', async () => {
    const violations: string[] = [];
    const metrics = { permissionViolated: (operation: string) => void violations.push(operation) };
    const bus = await connectBus({ url: urlOf('library'), name: 'library', logger, metrics });
    await bus.serve(library, handlers({ getBook: async () => ({ id: 1, title: 'here' }) }));
    await waitFor(() => violations.length === 2, { what: 'two refused subscriptions' });
    await expect(bus.ping()).rejects.toThrow(
      `the NATS user library may not subscribe to library.books.get, library.books.list: ${release}`,
    );
    change(
      JSON.stringify(describeUser('library', crippledLibrary)),
      JSON.stringify(describeUser('library', libraryPermissions)),
    );
    await waitFor(async () => (await bus.ping(), true), { what: 'the subscriptions' });
    const admin = await open('admin', 'admin');
    await expect(admin.call(library.rpcs.getBook, { id: 1 }, { requestId: 'a' })).resolves.toMatchObject({
      title: 'here',
    });
    await Promise.all([admin.close(), bus.close()]);
  });

  it('does not become ready without a permission, reports the missing one, and starts when it is granted', async () => {
    const admin = await open('admin', 'admin');
    await admin.ensureStreams();
    await admin.close();
    const port = await findFreePort();
    const settings = {
      ...env.settings,
      NATS_SUBJECT_PREFIX: '',
      NATS_URL: urlOf('events-changing'),
      METRICS_PORT: String(port),
    };
    const config = await loadServiceConfig('events', settings);
    const service = await createService({ config: config as never, logger });
    env.onStop(() => service.stop());
    const starting = service.start();
    const ready = async (): Promise<{ status: number; text: string }> => {
      const response = await fetch(`http://127.0.0.1:${port}/readyz`);
      return { status: response.status, text: await response.text() };
    };
    const problem = await waitFor(async () => ((await ready()).text.includes('may not') ? ready() : undefined), {
      what: 'the problem',
    });
    expect(problem.status).toBe(503);
    expect(problem.text).toContain(`the NATS user events-changing may not subscribe to events.*.*: ${release}`);
    const changed = { publish: all['events']?.publish ?? [], subscribe: eventsInbox };
    change(
      JSON.stringify(describeUser('events-changing', changed)),
      JSON.stringify(describeUser('events-changing', all['events'] ?? changed)),
    );
    await starting;
    await waitFor(async () => (await ready()).status === 200, { what: 'the service' });
    await service.stop();
  });

  it('checks the permissions of all users before the streams exist, and lists missing ones per user', async () => {
    const lame = removals.find(({ user, kind }) => user === 'directory' && kind === 'subscribe') as Removal;
    const urls = { NATS_URL: urlOf('admin'), NATS_URL_MEDIA: urlOf('media'), NATS_URL_DIRECTORY: urlOf(lame.login) };
    const refused = await runScript('tools/streams.ts', urls);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(
      /the NATS user directory-subscribe-0 may not subscribe to _INBOX\.directory\..*nats\.conf of this release/,
    );
    const accepted = await runScript('tools/streams.ts', { ...urls, NATS_URL_DIRECTORY: urlOf('directory') });
    expect(accepted).toMatchObject({ code: 0 });

    const doctor = await runCli(['doctor'], { ...urls, NATS_URL: urlOf('cli'), NATS_URL_MEDIA: urlOf('nobody') });
    expect(doctor.stdout).toMatch(
      /^WRONG {2}NATS users +.*directory-subscribe-0 may not subscribe to _INBOX\.directory/m,
    );
    expect(doctor.stdout).toMatch(/^WRONG {2}NATS users .*\(user media\): the user or the password is wrong/m);
  });
});
