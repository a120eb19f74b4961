import { PassThrough } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { createLogger } from './index.ts';

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

describe('createLogger (design/operations.md, Signals)', () => {
  it('writes one JSON object per line with service, level and time', () => {
    const { logger, lines } = capture();
    logger.info({ requestId: 'r-1' }, 'done');
    expect(lines()).toEqual([
      { level: 'info', time: expect.stringMatching(/^\d{4}-.*Z$/), service: 'media', pid: process.pid, requestId: 'r-1', msg: 'done' },
    ]);
  });

  it('leaves out what is below the level', () => {
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
  ])('redacts credentials %s', (_where, fields) => {
    const { logger, lines } = capture();
    logger.info(fields, 'credentials');
    const text = JSON.stringify(lines());
    expect(text).not.toContain('s3cret');
    expect(text).toContain('[redacted]');
  });
});
