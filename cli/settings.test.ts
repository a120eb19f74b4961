import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { identifyProcess } from '#libs/infrastructure/process-identity';
import { readSettings } from './settings.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'settings-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function write(content: unknown): string {
  const file = join(folder, 'environment.json');
  writeFileSync(file, JSON.stringify(content));
  return file;
}

describe('settings of the CLI', () => {
  const settings = { NATS_URL: 'nats://own', DATABASE_URL: 'postgresql://own' };

  it('ignores the settings file of the folder when NATS_URL is set', () => {
    const file = write({ holder: identifyProcess(process.pid), settings });
    expect(readSettings({ NATS_URL: 'nats://given' }, file)).toEqual({ NATS_URL: 'nats://given' });
  });

  it('reads the settings of the platform that runs in this folder, unless environment variables override them', () => {
    const file = write({ holder: identifyProcess(process.pid), settings });
    expect(readSettings({ DATABASE_URL: 'postgresql://given', NATS_URL: '' }, file)).toEqual({
      NATS_URL: 'nats://own',
      DATABASE_URL: 'postgresql://given',
    });
  });

  it('ignores the settings file of a platform that no longer runs', () => {
    const gone = { ...identifyProcess(process.pid), startedAt: 'another life' };
    expect(readSettings({}, write({ holder: gone, settings }))).toEqual({});
    expect(readSettings({}, join(folder, 'missing.json'))).toEqual({});
    expect(readSettings({}, write('nonsense'))).toEqual({});
  });
});
