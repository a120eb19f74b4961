import { describe, expect, it } from '@jest/globals';
import { AppError, appError, notFound, toErrorBody, unavailable } from './index.ts';

describe('AppError (rules/http#error-envelopes)', () => {
  it('serialises code, reason, message and details of an error', () => {
    expect(appError('conflict', 'version_conflict', 'Stale version.', { currentVersion: 3 }).toBody()).toEqual({
      code: 'conflict',
      reason: 'version_conflict',
      message: 'Stale version.',
      details: { currentVersion: 3 },
    });
    expect(notFound().toBody()).toEqual({ code: 'not_found', message: 'Not Found' });
  });

  it('derives status and retryability of an error from its code', () => {
    expect([notFound().status, notFound().retryable]).toEqual([404, false]);
    expect([unavailable().status, unavailable().retryable]).toEqual([503, true]);
    expect(new AppError({ code: 'internal', message: 'x' }).status).toBe(500);
  });
});

describe('toErrorBody', () => {
  it('omits the message of an unexpected error', () => {
    expect(toErrorBody(new Error('password=hunter2'))).toEqual({ code: 'internal', message: 'Internal error' });
    expect(toErrorBody('boom')).toEqual({ code: 'internal', message: 'Internal error' });
  });
});
