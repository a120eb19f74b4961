import { describe, expect, it } from '@jest/globals';
import { chooseRecording, describeRecordingFile } from './recording-file.ts';

describe('chooseRecording (rules/media#video; D27)', () => {
  const full = { kind: 'full', finalized: false } as const;
  const trimmed = { kind: 'front_trimmed', finalized: false } as const;
  const finalized = { kind: 'front_trimmed', finalized: true } as const;

  it('prefers a trimmed recording that is not finalised, then the full one, then what there is', () => {
    expect(chooseRecording([full, trimmed])).toBe(trimmed);
    expect(chooseRecording([finalized, full])).toBe(full);
    expect(chooseRecording([finalized])).toBe(finalized);
    expect(chooseRecording([full])).toBe(full);
    expect(chooseRecording([])).toBeUndefined();
  });
});

describe('describeRecordingFile', () => {
  it.each([
    ['a/Talk.MP4', 'Talk.MP4', 'mp4', 'video/mp4'],
    ['x.webm', 'x.webm', 'webm', 'video/webm'],
    ['page.html', 'page.html', 'html', 'application/octet-stream'],
    ['noextension', 'noextension', 'bin', 'application/octet-stream'],
    ['x.constructor', 'x.constructor', 'bin', 'application/octet-stream'],
  ])('takes the type of %s from an allow-list of extensions', (given, name, extension, contentType) => {
    expect(describeRecordingFile(given)).toEqual({ name, extension, contentType });
  });
});
