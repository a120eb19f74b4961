import { PassThrough } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { releaseVersion } from '#libs/infrastructure/release';
import { createLogger, createReadableLines } from './index.ts';

function capture(level?: string): { logger: ReturnType<typeof createLogger>; lines: () => Record<string, unknown>[] } {
  const stream = new PassThrough();
  const logger = createLogger({ service: 'media', ...(level === undefined ? {} : { level }), destination: stream });
  return {
    logger,
    lines: () =>
      String(stream.read() ?? '')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Record<string, unknown>),
  };
}

describe('createLogger (rules/operations#logs)', () => {
  it('logs one JSON object per line with service, release, level and time (rules/operations#releases)', () => {
    const { logger, lines } = capture();
    logger.info({ requestId: 'r-1' }, 'done');
    expect(lines()).toEqual([
      {
        level: 'info',
        time: expect.stringMatching(/^\d{4}-.*Z$/),
        service: 'media',
        version: releaseVersion,
        pid: process.pid,
        requestId: 'r-1',
        msg: 'done',
      },
    ]);
  });

  it('omits log lines below the configured level', () => {
    const { logger, lines } = capture('warn');
    logger.info('quiet');
    logger.warn('loud');
    expect(lines()).toMatchObject([{ level: 'warn', msg: 'loud' }]);
  });

  it.each([
    ['at the top', { password: 's3cret' }],
    ['in headers', { headers: { authorization: 'Bearer s3cret', cookie: 's3cret' } }],
    ['deeper', { request: { headers: { authorization: 's3cret' } } }],
    ['in settings', { config: { API_TOKEN: 's3cret', DATABASE_URL: 'postgresql://u:s3cret@h/d' } }],
  ])('redacts logged credentials %s', (_where, fields) => {
    const { logger, lines } = capture();
    logger.info(fields, 'credentials');
    const text = JSON.stringify(lines());
    expect(text).not.toContain('s3cret');
    expect(text).toContain('[redacted]');
  });

  it('redacts secrets in logged texts and errors, and does not redact token counts', () => {
    const { logger, lines } = capture();
    const address = 'https://api.telegram.org/bot4242:s3cret/sendMessage';
    logger.info({ clientSecret: 's3cret', pin: 53, tokens: 512, address }, `calling ${address}`);
    logger.error({ err: new Error(`no answer of ${address}`, { cause: new Error('password: s3cret1') }) }, 'failed');
    logger.error(new Error('Authorization: Token s3cret'));
    const written = lines();
    expect(JSON.stringify(written)).not.toContain('s3cret');
    expect(written).toMatchObject([
      {
        clientSecret: '[redacted]',
        pin: '[redacted]',
        tokens: 512,
        address: 'https://api.telegram.org/bot[redacted]/sendMessage',
      },
      { msg: 'failed', err: { message: expect.stringContaining('bot[redacted]/') } },
      { msg: 'Authorization: [redacted]' },
    ]);
  });

  it('truncates long logged values (D60)', () => {
    const { logger, lines } = capture();
    const path = '/x'.repeat(8_000);
    logger.info(
      { path, list: Array.from({ length: 1_000 }, (_value, index) => index), map: { inner: 'y'.repeat(1_001) } },
      'request',
    );
    logger.error({ err: new Error('z'.repeat(1e6)) }, 'request failed');
    const [request, failed] = lines() as {
      path: string;
      list: number[];
      map: { inner: string };
      err: { message: string; stack: string };
    }[];
    expect([request?.path, request?.list.length, request?.map.inner.length]).toEqual([path.slice(0, 1_000), 50, 1_000]);
    expect([failed?.err.message.length, failed?.err.stack.length]).toEqual([1_000, 8_000]);
  });

  it('writes no log line over 16 KiB', () => {
    const { logger, lines } = capture();
    const deep = { a: { b: { c: { d: 'x'.repeat(100_000) } } } };
    logger.warn({ deep, requestId: 'r-1' }, 'm'.repeat(100_000));
    const [line] = lines();
    expect(line).toMatchObject({
      level: 'warn',
      requestId: 'r-1',
      msg: 'm'.repeat(1_000),
      cutFrom: expect.any(Number),
    });
    expect(line).not.toHaveProperty('deep');
  });
});

const print = createReadableLines({ colors: false });
const line = (fields: object): string =>
  JSON.stringify({ level: 'info', time: '2026-01-01T00:00:00.000Z', service: 'media', ...fields });

describe('createReadableLines', () => {
  it('prints time, level, service and message, followed by the fields', () => {
    expect(print(line({ pid: 7, status: 200, msg: 'request' }))).toMatch(
      /^\[\d\d:\d\d:\d\d\.000\] INFO: media: request \{"status":200\}\n$/,
    );
  });

  it('prints each stack frame of an error on a separate line', () => {
    const err = { type: 'Error', message: 'broken', stack: 'Error: broken\n    at here' };
    expect(print(line({ err, msg: 'failed' }))).toMatch(/Error: broken\n +at here/);
  });

  it('prints lines that are not JSON unchanged', () => {
    expect(print('Listening on 127.0.0.1')).toBe('Listening on 127.0.0.1\n');
  });

  it('escapes control characters of logged values', () => {
    const evil = 'a\u001b[2J\u009b2J\u202eb\u0007';
    const printed = print(line({ path: evil, err: { type: 'Error', message: evil, stack: evil }, msg: evil }));
    expect(printed).not.toMatch(/[^\P{Cc}\n]|\u202e/u);
    expect(printed).toContain('\\u009b2J');
  });
});
