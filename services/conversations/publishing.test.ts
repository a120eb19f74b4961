import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isJsonObject, parseJson } from '#libs/infrastructure/json';
import { conversationTitle, readPublishing, stripProvenance } from './publishing.ts';

const envelope = (value: unknown): unknown => ({ value, provenance: { by: 'model', at: '2026-05-01T10:00:00Z' } });

/** Generates JSON without envelopes and without the key `provenance`. */
const plain = fc.jsonValue({ maxDepth: 4 }).map((value) => stripProvenance(value));
/** Returns the value with envelopes and additional `provenance` keys at random positions. */
function wrapSome(value: unknown, dice: () => boolean): unknown {
  let wrapped = value;
  if (Array.isArray(value)) wrapped = value.map((item) => wrapSome(item, dice));
  else if (isJsonObject(value)) {
    const entries = Object.entries(value).map(([key, item]): [string, unknown] => [key, wrapSome(item, dice)]);
    // Together with a single key `value`, the key would form an envelope.
    if (dice() && !(entries.length === 1 && entries[0]?.[0] === 'value')) entries.push(['provenance', { by: 'model' }]);
    wrapped = Object.fromEntries(entries);
  }
  return dice() ? envelope(wrapped) : wrapped;
}

function holdsProvenance(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(holdsProvenance);
  return isJsonObject(value) && (Object.hasOwn(value, 'provenance') || Object.values(value).some(holdsProvenance));
}

describe('stripProvenance (rules/discovery#publicconversation; D18a)', () => {
  it.each([
    [envelope('text'), 'text'],
    [envelope(envelope([envelope(1)])), [1]],
    [{ value: 1 }, { value: 1 }],
    [
      { value: 1, provenance: 2, more: 3 },
      { value: 1, more: 3 },
    ],
    [{ provenance: 1 }, {}],
    [{ a: { provenance: 1, b: [{ provenance: 2, c: null }] } }, { a: { b: [{ c: null }] } }],
    [null, null],
  ])('strips provenance from %j: %j', (stored, shown) => {
    expect(stripProvenance(stored)).toEqual(shown);
  });

  it('unwraps envelopes and removes provenance at any depth', () => {
    fc.assert(
      fc.property(plain, fc.infiniteStream(fc.boolean()), (value, dice) => {
        const wrapped = wrapSome(value, () => dice.next().value === true);
        expect(JSON.stringify(stripProvenance(wrapped))).toBe(JSON.stringify(value));
      }),
    );
  });

  it('removes every key `provenance` from any stored value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.infiniteStream(fc.boolean()), (value, dice) => {
        expect(holdsProvenance(stripProvenance(wrapSome(value, () => dice.next().value === true)))).toBe(false);
      }),
    );
  });

  it('preserves big integers and __proto__ while it strips provenance', () => {
    const text = '{"__proto__":{"a":12345678901234567890},"b":1.10}';
    expect(JSON.stringify(stripProvenance(parseJson(text)))).toBe(text);
  });
});

describe('readPublishing (D18a)', () => {
  it('returns only fields, records and artifacts, each as an object', () => {
    const { payload } = readPublishing({ fields: { title: envelope('T') }, records: [], secret: 1, approval: {} });
    expect(payload).toEqual({ fields: { title: 'T' }, records: {}, artifacts: {} });
  });

  it.each([[undefined], [null], ['text'], [[]], [{}], [{ fields: null, records: 'x', artifacts: 7 }]])(
    'returns three empty groups for %j',
    (stored) => {
      expect(readPublishing(stored)).toEqual({
        payload: { fields: {}, records: {}, artifacts: {} },
        summary: '',
        thumbnail: null,
        videohostDescription: null,
      });
    },
  );

  it('returns the first imported thumbnail, or otherwise the thumbnail of the video host', () => {
    const records = { videohost: envelope({ thumbnail: envelope('host.png') }) };
    const thumbnail = (imported: unknown): string | null =>
      readPublishing({ records, artifacts: { imported_thumbnails: imported } }).thumbnail;
    expect(thumbnail(envelope([envelope('one.png'), 'two.png']))).toBe('one.png');
    expect([thumbnail([]), thumbnail(undefined), thumbnail([null, '  '])]).toEqual([
      'host.png',
      'host.png',
      'host.png',
    ]);
  });

  it('returns summary and description of the video host from inside their envelopes', () => {
    const { summary, videohostDescription } = readPublishing({
      fields: envelope({ summary: envelope('short'), videohost_description: envelope('long') }),
    });
    expect([summary, videohostDescription]).toEqual(['short', 'long']);
  });
});

describe('conversationTitle (D18a, D18b)', () => {
  it.each([
    ['Plain', '2026-05-01T10:00:00Z', 'Plain'],
    [{ value: 'Enclosed', provenance: { by: 'x' } }, null, 'Enclosed'],
    [{ value: 'No envelope' }, null, 'Conversation 42'],
    ['  ', '2026-05-01T10:00:00Z', 'Conversation of 2026-05-01'],
    [undefined, null, 'Conversation 42'],
    [7, null, 'Conversation 42'],
  ])('returns for the title field %j and the start %p the title %s', (field, start, title) => {
    const json = field === undefined ? null : JSON.stringify(field);
    expect(conversationTitle({ id: 42, title: json, enveloped: null, start })).toBe(title);
  });
});

describe('conversationTitle with an envelope around `fields` (D18a)', () => {
  it('returns the title inside the envelope', () => {
    const enveloped = JSON.stringify({ fields: envelope({ title: envelope('Inside') }) });
    expect(conversationTitle({ id: 1, title: null, enveloped, start: null })).toBe('Inside');
  });
});
