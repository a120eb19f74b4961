/** What somebody finds who reaches a machine, or an account on it, where the platform runs as it comes (architecture §10). */
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readServiceSettings } from '../../tools/servers/service-settings.ts';
import { createLaunchpad, type Launch, type Launchpad } from '../e2e/launch.ts';

const readEnvironment = (pid: number): Record<string, string> =>
  Object.fromEntries(
    readFileSync(`/proc/${pid}/environ`, 'utf8')
      .split('\0')
      .filter((line) => line !== '')
      .map((line): [string, string] => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );

/** Addresses on which a process listens, as the kernel writes them: `0100007F:1F90`. */
function readListening(pid: number): string[] {
  const inodes = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return [/^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? ''];
      } catch {
        return []; // closed meanwhile
      }
    }),
  );
  return ['tcp', 'tcp6']
    .flatMap((kind) => readFileSync(`/proc/${pid}/net/${kind}`, 'utf8').split('\n').slice(1))
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , state, , , , , , inode]) => state === '0A' && inodes.has(inode ?? ''))
    .map(([, address = '']) => address);
}

const loopback = /^(0100007F|0{24}01000000):/;

describe('npm start as it comes', () => {
  let pad: Launchpad;
  let platform: Launch;

  beforeAll(async () => {
    pad = await createLaunchpad({ metricsPort: 19_190 });
    platform = pad.launch({ PLANTED_SECRET: 'of-another-program', AWS_SECRET_ACCESS_KEY: 'of-another-program' });
    await pad.waitUntilReady(platform);
  });
  afterAll(() => pad.clear());

  it('a neighbour in the network reaches no port of it: neither the API nor media, metrics, PostgreSQL, NATS or the object store', () => {
    const listening = pad.readRecord().map(({ name, identity }) => ({ name, addresses: readListening(identity.pid) }));
    expect(listening).toHaveLength(9);
    expect(listening.filter(({ addresses }) => addresses.length === 0)).toEqual([]);
    expect(listening.filter(({ addresses }) => addresses.some((address) => !loopback.test(address)))).toEqual([]);
    expect(listening.find(({ name }) => name === 'api-gateway')?.addresses).toContain(
      `0100007F:${pad.port.toString(16).toUpperCase().padStart(4, '0')}`,
    );
  });

  describe('an account of the machine that took over one process', () => {
    const basics = /^(PATH|HOME|TMPDIR|TZ|LANG|LC_ALL|SSL_CERT_(FILE|DIR)|NODE_[A-Z0-9_]+)$/;

    it('finds in its environment what its service declares, and nothing of the others or of the caller', async () => {
      const services = await readServiceSettings();
      expect(services).toHaveLength(6);
      for (const { service, properties } of services) {
        const found = Object.keys(readEnvironment(pad.findIdentity(service).pid));
        expect({ service, undeclared: found.filter((name) => !(name in properties) && !basics.test(name)) }).toEqual({
          service,
          undeclared: [],
        });
      }
    });

    it('finds no address of an administrator', () => {
      const gateway = readEnvironment(pad.findIdentity('api-gateway').pid);
      expect(gateway).not.toHaveProperty('DATABASE_URL');
      expect(new URL(gateway['NATS_URL'] ?? '').username).toBe('api-gateway');
      const media = readEnvironment(pad.findIdentity('media').pid);
      expect(new URL(media['DATABASE_URL'] ?? '').username).toBe('coherence_media');
      expect(new URL(media['NATS_URL'] ?? '').username).toBe('media');
    });

    it('finds nothing of the caller in the servers either', () => {
      const found = pad.readRecord().filter(({ identity }) => Object.values(readEnvironment(identity.pid)).includes('of-another-program'));
      expect(found.map(({ name }) => name)).toEqual([]);
    });
  });

  it('another account of the machine reads no file of it: neither data nor logs, spool or secrets', () => {
    const open: string[] = [];
    const look = (path: string): void => {
      const stat = lstatSync(path, { throwIfNoEntry: false });
      if (stat === undefined || stat.isSymbolicLink()) return;
      if ((stat.mode & 0o077) !== 0) open.push(path);
      if (stat.isDirectory()) for (const name of readdirSync(path)) look(join(path, name));
    };
    look(pad.dataDir);
    expect(open).toEqual([]);
    expect(readdirSync(pad.dataDir)).toEqual(expect.arrayContaining(['environment.json', 'logs', 'postgres', 'service-secret']));
  });
});
