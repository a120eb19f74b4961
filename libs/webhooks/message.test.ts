import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { packWebhooks, unpackWebhooks, type Webhook } from './message.ts';

const facts = fc.dictionary(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' })).map((more) => ({ ...more, id: 'd-1' }));
const body = fc.option(
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  { nil: null },
);
const webhook: fc.Arbitrary<Webhook> = fc.oneof(
  fc.record({ facts, body }),
  fc.record({ facts, body, traceparent: fc.string({ unit: 'binary' }) }),
);

describe('packWebhooks and unpackWebhooks (architecture#webhooks; D20)', () => {
  it('keeps every webhook as it came, in order, whatever its bytes', () => {
    fc.assert(fc.property(fc.array(webhook), (webhooks) => expect(unpackWebhooks(packWebhooks(webhooks))).toEqual(webhooks)));
  });

  it('tells an empty body from one that was not kept', () => {
    const list = [Buffer.alloc(0), null].map((kept) => ({ facts: { id: 'a' }, body: kept }));
    expect(unpackWebhooks(packWebhooks(list))?.map((item) => item.body)).toEqual([Buffer.alloc(0), null]);
  });

  it.each([
    ['nothing', ''],
    ['no line', '[]'],
    ['no JSON', '[{\n'],
    ['no list', '{}\n'],
    ['no facts', '[{"size":null}]\n'],
    ['no id', '[{"facts":{},"size":null}]\n'],
    ['no size', '[{"facts":{"id":"a"}}]\n'],
    ['a negative size', '[{"facts":{"id":"a"},"size":-1}]\n'],
    ['a trace context that is no text', '[{"facts":{"id":"a"},"traceparent":1,"size":null}]\n'],
    ['a body cut short', '[{"facts":{"id":"a"},"size":5}]\nhalf'],
    ['more than was said', '[{"facts":{"id":"a"},"size":3}]\nmore'],
  ])('refuses %s', (_name, text) => {
    expect(unpackWebhooks(Buffer.from(text))).toBeUndefined();
  });
});
