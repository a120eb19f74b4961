import { describe, expect, it } from '@jest/globals';
import { appError, AppError, badRequest } from '#libs/infrastructure/errors';
import { invalidInput, renderError, type ValidationItem } from './envelope.ts';

const item = (...loc: (string | number)[]): ValidationItem => ({ type: 'missing', loc, msg: 'Field required' });
const detailOf = (error: Error): ValidationItem[] =>
  (JSON.parse(renderError('api', error).body) as { detail: ValidationItem[] }).detail;

describe('renderError (D60)', () => {
  it('lists at most fifty problems in an error', () => {
    const items = Array.from({ length: 51 }, (_value, index) => item('body', 'payload', index));
    expect(detailOf(invalidInput(items.slice(0, 50)))).toHaveLength(50);
    expect(detailOf(invalidInput(items))).toEqual(items.slice(0, 50));
  });

  it('truncates a problem path to 120 characters between two segments', () => {
    const [first] = detailOf(invalidInput([item('body', 'x'.repeat(120), 'y'.repeat(121), `${'z'.repeat(119)}😀`, 7)]));
    expect(first?.loc).toEqual(['body', 'x'.repeat(120), 'y'.repeat(120), 'z'.repeat(119), 7]);
  });

  it('limits an error response to 64 KiB, with at least one problem', () => {
    const deep = Array.from({ length: 64 }, () => '\ud800'.repeat(200));
    const { body } = renderError('v1', invalidInput(Array.from({ length: 50 }, () => item(...deep))));
    expect(Buffer.byteLength(body)).toBeLessThanOrEqual(65_536);
    expect(JSON.parse(body)).toEqual({ detail: [expect.objectContaining({ type: 'missing' })] });
  });

  it.each(['api', 'v1'] as const)('truncates the details of an operation error on %s', (surface) => {
    const fields = Object.fromEntries(
      Array.from({ length: 5_000 }, (_value, index) => [`${'k'.repeat(50)}${index}`, 'is no setting']),
    );
    const { body } = renderError(
      surface,
      appError('bad_request', 'invalid_step_config', 'It does not fit.', { fields, huge: 'x'.repeat(1e6), count: 5 }),
    );
    expect(Buffer.byteLength(body)).toBeLessThanOrEqual(65_536);
    const shown = JSON.parse(body) as { fields: object; message: string };
    expect([shown.message, Object.keys(shown.fields).length > 100]).toEqual(['It does not fit.', true]);
  });

  it('truncates values quoted in a message, and the message itself', () => {
    const quoted = badRequest(`There is no journey "${'x'.repeat(4e6)}" here.`);
    expect(quoted.message).toBe(`There is no journey "${'x'.repeat(120)}…" here.`);
    expect(badRequest(`There is no journey "${'x'.repeat(120)}".`).message).toContain(`"${'x'.repeat(120)}"`);
    expect(badRequest('y'.repeat(1e6)).message).toHaveLength(1_000);
  });

  it.each([
    ['request_timeout', 408],
    ['unsupported_media_type', 415],
  ] as const)('answers %s with {detail} on every surface', (code, status) => {
    for (const surface of ['api', 'v1'] as const) {
      expect(renderError(surface, new AppError({ code, message: 'why' }))).toMatchObject({
        status,
        body: '{"detail":"why"}',
      });
    }
  });
});
