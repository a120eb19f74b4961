import { describe, expect, it } from '@jest/globals';
import { Type } from '#libs/infrastructure/contract';
import { compileFormats, prefersEvents } from './formats.ts';

const schema = Type.String();
const choose = compileFormats({
  md: { contentType: 'text/markdown; charset=utf-8', schema },
  json: { contentType: 'application/json', schema },
  vtt: { contentType: 'text/vtt; charset=utf-8', schema },
  srt: { contentType: 'application/x-subrip', schema },
  txt: { contentType: 'text/plain; charset=utf-8', schema },
});

describe('response format by Accept (rules/http#formats; T1, T5)', () => {
  it.each([
    [undefined, 'md'],
    ['', 'md'],
    ['*/*', 'md'],
    ['application/json', 'json'],
    ['Application/JSON; charset=utf-8', 'json'],
    ['text/vtt', 'vtt'],
    ['application/x-subrip', 'srt'],
    ['text/plain', 'txt'],
    ['text/*', 'md'],
    ['application/*', 'json'],
    ['text/plain, application/json', 'json'],
    ['text/plain, text/markdown', 'md'],
    ['text/vtt;q=0.9, text/plain', 'txt'],
    ['text/markdown;q=0, */*', 'json'],
    ['*/*;q=0.1, text/vtt;q=0.2', 'vtt'],
    ['text/html, application/xhtml+xml, application/xml;q=0.9, */*;q=0.8', 'md'],
    ['image/png', 'md'],
    ['application/json;q=0', 'md'],
    ['application/json;q=2, text/vtt', 'vtt'],
    [',;/, json, text/vtt', 'vtt'],
  ])('selects the format %j for Accept: %s', (accept, format) => {
    expect(choose(accept)).toBe(format);
  });
});

describe('event stream instead of JSON by Accept (C4)', () => {
  it.each([
    'text/event-stream',
    'Text/Event-Stream; charset=utf-8',
    'text/event-stream, application/json',
    'application/json;q=0.5, text/event-stream;q=0.5',
    'text/event-stream, */*',
    'text/event-stream;q=0.1, application/json;q=0',
  ])('selects an event stream for Accept: %s', (accept) => {
    expect(prefersEvents(accept)).toBe(true);
  });

  it.each([
    undefined,
    '',
    '*/*',
    'text/*',
    'application/json',
    'text/event-stream;q=0',
    'text/event-stream;q=high',
    'text/event-stream;q=0.9, application/json',
    'text/event-stream;q=0.9, */*',
  ])('selects JSON for Accept: %s', (accept) => {
    expect(prefersEvents(accept)).toBe(false);
  });
});
