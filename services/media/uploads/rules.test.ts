import { describe, expect, it } from '@jest/globals';
import { audioExtensions } from '../contract.ts';
import { describeAudioFile, newAudioKey } from './rules.ts';

describe('describeAudioFile (rules/http#limits; D27)', () => {
  it.each(audioExtensions)('accepts the audio extension .%s in any case', (extension) => {
    for (const text of [extension, extension.toUpperCase()]) {
      const file = describeAudioFile(`talk.${text}`);
      expect(file).toMatchObject({ name: `talk.${text}`, extension });
      expect(file.contentType).toMatch(/^audio\//);
    }
  });

  it.each([
    'talk.txt',
    'talk',
    'talk.',
    '.mp3',
    'mp3',
    '',
    'talk.mp3.exe',
    'talk.mp3 .txt',
    'talk.mp4',
    'a/b/.mp3',
    'talk.mp3/',
    'talk.mp3x',
  ])('rejects the audio file name %j', (name) => {
    let thrown: unknown;
    try {
      describeAudioFile(name);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ code: 'bad_request', reason: 'invalid_conversation_audio' });
  });

  it.each([
    ['/etc/passwd/../talk.mp3', 'talk.mp3'],
    ['..\\..\\windows\\talk.mp3', 'talk.mp3'],
    ['C:\\fakepath\\talk.mp3', 'talk.mp3'],
    ['ta\u0000lk\r\n.mp3', 'talk.mp3'],
    ['talk\u202e3pm.mp3', 'talk3pm.mp3'],
    ['  talk.mp3 ', 'talk.mp3'],
    ['Gespräch über 会話 🎧.mp3', 'Gespräch über 会話 🎧.mp3'],
    ['a"b;c%20d.mp3', 'a"b;c%20d.mp3'],
    ['lone\ud800.mp3', 'lone\ufffd.mp3'],
  ])('returns for %j only the base name', (given, name) => {
    expect(describeAudioFile(given).name).toBe(name);
  });

  it('truncates a long file name and preserves its extension', () => {
    const { name } = describeAudioFile(`${'é'.repeat(5000)}.webm`);
    expect(Array.from(name)).toHaveLength(200);
    expect(name.endsWith('é.webm')).toBe(true);
  });
});

describe('newAudioKey (architecture#bytes)', () => {
  it('creates a unique key with 24 random bytes', () => {
    const keys = new Set(Array.from({ length: 100 }, () => newAudioKey(7, 'mp3')));
    expect(keys.size).toBe(100);
    for (const key of keys) expect(key).toMatch(/^audio\/7\/[A-Za-z0-9_-]{32}\.mp3$/);
  });
});
