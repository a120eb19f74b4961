import { describe, expect, it } from '@jest/globals';
import { conversationTitle } from './title.ts';

const envelope = (value: unknown): unknown => ({ value, provenance: { by: 'model', at: '2026-05-01T10:00:00Z' } });

describe('conversationTitle (D18a, D18b)', () => {
  it.each([
    ['Plain', '2026-05-01T10:00:00Z', 'Plain'],
    [{ value: 'Enclosed', provenance: { by: 'x' } }, null, 'Enclosed'],
    [{ value: 'No envelope' }, null, 'Conversation 42'],
    ['  ', '2026-05-01T10:00:00Z', 'Conversation of 2026-05-01'],
    [undefined, null, 'Conversation 42'],
    [7, null, 'Conversation 42'],
  ])('of field %j and start %p is %s', (field, start, title) => {
    const json = field === undefined ? null : JSON.stringify(field);
    expect(conversationTitle({ id: 42, title: json, enveloped: null, start })).toBe(title);
  });
});

describe('conversationTitle with an envelope around the fields (D18a)', () => {
  it('reads the title in it', () => {
    const enveloped = JSON.stringify({ fields: envelope({ title: envelope('Inside') }) });
    expect(conversationTitle({ id: 1, title: null, enveloped, start: null })).toBe('Inside');
  });
});
