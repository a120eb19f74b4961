import { describe, expect, it } from '@jest/globals';
import { generateActorKeys } from '#libs/infrastructure/actor';
import { loadDirectoryConfig } from './config.ts';

const needed = {
  ACTOR_PUBLIC_KEY: generateActorKeys().publicKey,
  DATABASE_URL: 'postgresql://localhost/x',
  NATS_URL: 'nats://localhost',
};

describe('the settings of the directory', () => {
  it('uses UTC and a bulk-add wait of ten seconds by default (D45, D50)', () => {
    expect(loadDirectoryConfig(needed)).toMatchObject({ WORKLIST_TIME_ZONE: 'UTC', BULK_ADD_WAIT_MS: 10_000 });
    expect(loadDirectoryConfig({ ...needed, WORKLIST_TIME_ZONE: 'Asia/Kathmandu' })).toMatchObject({
      WORKLIST_TIME_ZONE: 'Asia/Kathmandu',
    });
  });

  it.each(['UTC', 'Europe/Berlin'])('accepts the time zone %s', (zone) => {
    expect(loadDirectoryConfig({ ...needed, WORKLIST_TIME_ZONE: zone }).WORKLIST_TIME_ZONE).toBe(zone);
  });

  it('rejects an unknown time zone', () => {
    expect(() => loadDirectoryConfig({ ...needed, WORKLIST_TIME_ZONE: 'Mars/Olympus' })).toThrow('WORKLIST_TIME_ZONE');
  });
});
