import { describe, expect, it } from '@jest/globals';
import { createReadableLines } from './index.ts';

const print = createReadableLines({ colors: false });
const line = (fields: object): string => JSON.stringify({ level: 'info', time: '2026-01-01T00:00:00.000Z', service: 'media', ...fields });

describe('createReadableLines', () => {
  it('prints time, level, service and text, then the fields', () => {
    expect(print(line({ pid: 7, status: 200, msg: 'request' }))).toMatch(
      /^\[\d\d:\d\d:\d\d\.000\] INFO: media: request \{"status":200\}\n$/,
    );
  });

  it('prints the stack of an error on lines of its own', () => {
    const err = { type: 'Error', message: 'broken', stack: 'Error: broken\n    at here' };
    expect(print(line({ err, msg: 'failed' }))).toMatch(/Error: broken\n +at here/);
  });

  it('leaves what is no JSON as it is', () => {
    expect(print('Listening on 127.0.0.1')).toBe('Listening on 127.0.0.1\n');
  });

  it('hands no control characters of strangers to the terminal', () => {
    const evil = 'a\u001b[2J\u009b2J\u202eb\u0007';
    const printed = print(line({ path: evil, err: { type: 'Error', message: evil, stack: evil }, msg: evil }));
    expect(printed).not.toMatch(/[^\P{Cc}\n]|\u202e/u);
    expect(printed).toContain('\\u009b2J');
  });
});
