import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { dropThoughts, readThoughts, ThoughtFilter } from '#libs/infrastructure/thoughts';

const harmony = (thoughts: string, answer: string): string =>
  `<|channel|>analysis<|message|>${thoughts}<|end|><|start|>assistant<|channel|>final<|message|>${answer}`;

describe('a reply without thoughts (D84; rules/providers#thoughts)', () => {
  it.each([
    ['a tag', '<think>a</think>b', 'b'],
    ['space around', '\n <think>\na\n</think>\n\nb <c>', '\n\nb <c>'],
    ['several blocks', '<think>a</think>\n<think>b</think>c', 'c'],
    ['no thoughts in it', '<think></think>b', 'b'],
    ['a tag without content', '<think/>b', 'b'],
    ['an opening tag in it', '<think>a<think>b</think>c', 'c'],
    ['no opening tag', 'a\n</think>\n\nb', '\n\nb'],
    ['the middle', 'a <think>b</think> c', ' c'],
    ['two closing tags', '<think>a</think>b</think>c', 'c'],
    ['capitals', '<THINK>a</Think>b', 'b'],
    ['attributes', '<think type="deep" n=1>a</think >b', 'b'],
    ['<thinking>', '<thinking>a</thinking>b', 'b'],
    ['<thought>', '<thought>a</thought>b', 'b'],
    ['<reasoning>', '<reasoning effort="high">a</reasoning>b', 'b'],
    ['<seed:think>', '<seed:think>a</seed:think>b', 'b'],
    ['tags that differ', '<thinking>a</think>b', 'b'],
    ['[THINK]', '[THINK]a[/THINK]b', 'b'],
    ['[/THINK] alone', 'a[/THINK]b', 'b'],
    ['◁think▷', '◁think▷a◁/think▷b', 'b'],
    ['<|START_THINKING|>', '<|START_THINKING|>a<|END_THINKING|>b', 'b'],
    ['channels', harmony('a', 'b'), 'b'],
    ['channels with their end', harmony('a', 'b<|return|>'), 'b'],
    ['channels from their start on', `<|start|>assistant${harmony('a', 'b')}`, 'b'],
    [
      'a call in channels',
      harmony('a', '').replace('final<|message|>', 'commentary to=x.y <|constrain|>json<|message|>{}<|call|>') +
        harmony('c', 'b'),
      'b',
    ],
    [
      'thoughts behind a final channel',
      `${harmony('a', 'b')}<|end|><|start|>assistant<|channel|>analysis<|message|>c`,
      'b',
    ],
    ['channels without control tokens', 'analysisWe need to greet.assistantfinalb', 'b'],
    [
      'such channels with a call',
      'analysisWe need.assistantcommentary to=x json{}assistantanalysisNow.assistantfinalb',
      'b',
    ],
    ['such a channel without its beginning', 'We need to greet.assistantfinalb', 'b'],
    ['<analysis>', '<analysis>a</analysis>b', 'b'],
    ['<reflection>', '<reflection>a</reflection>b', 'b'],
    ['<scratchpad>', '<scratchpad>a</scratchpad>b', 'b'],
    ['<|thinking|>', '<|thinking|>a<|/thinking|>b', 'b'],
    [
      'a token at the start and end of the answer',
      '<|START_THINKING|>a<|END_THINKING|><|START_RESPONSE|>b<|END_RESPONSE|>',
      'b',
    ],
    ['a solution', '<|begin_of_thought|>a<|end_of_thought|>\n<|begin_of_solution|>b<|end_of_solution|>', 'b'],
    ['the end of the message', 'b<|im_end|>\n<|im_start|>user\na', 'b'],
    [
      'a final channel with a format',
      '<|channel|>analysis<|message|>a<|end|><|channel|>final <|constrain|>text<|message|>b',
      'b',
    ],
    ['such channels on lines', 'analysis\n\nWe need.\n\nassistantfinal\n\nb', '\n\nb'],
  ])('omits thoughts marked by %s, also when it receives single characters', (_what, answer, expected) => {
    expect(dropThoughts(answer)).toBe(expected);
    const filter = new ThoughtFilter();
    for (const letter of answer) filter.push(letter);
    expect(filter.finish()).toBe(expected);
  });

  it.each([
    '<think>a',
    '<think>a</think',
    '<think>',
    '[THINK]a',
    '<|channel|>analysis<|message|>a',
    '<|channel|>analysis',
    'analysisWe need to greet.',
    '<think>a</think>',
    'a</think>',
    harmony('a', ''),
  ])('returns an empty reply when thoughts do not end or nothing follows them: %j', (answer) => {
    expect(dropThoughts(answer)).toBe('');
  });

  it.each([
    ['a tag in a string', '{"answer":"<think>secret</think>hi"}', '{"answer":"hi"}'],
    ['a bracket in a string', '{"a":"[THINK]secret[/THINK]b"}', '{"a":"b"}'],
    ['channels in a string', `{"a": ${JSON.stringify(harmony('secret', 'b'))}}`, '{"a": "b"}'],
    ['only a closing tag', '{"a":"secret </think> y"}', '{"a":" y"}'],
    ['an unclosed tag', '{"a":"y <think> secret","b":"z"}', '{"a":"y ","b":"z"}'],
    ['escaped signs', String.raw`{"a":"\u003cthink\u003esecret\u003c/think>hi"}`, '{"a":"hi"}'],
    ['a name', '{"<think>secret</think>a":1}', '{"a":1}'],
    ['an array', '[["<think>secret</think>b"]]', '[["b"]]'],
    ['a string alone', '"<think>secret</think>b"', '"b"'],
    ['JSON in a string', JSON.stringify({ a: '{"b":"<think>secret</think>hi"}' }), JSON.stringify({ a: '{"b":"hi"}' })],
    ['thoughts before it and in it', '<think>secret</think>\n{"a":"secret</think>b"}', '\n{"a":"b"}'],
    [
      'numbers and space as they are',
      '{ "n": 12345678901234567890.0, "a": "x</think>\\n" }',
      '{ "n": 12345678901234567890.0, "a": "\\n" }',
    ],
  ])('preserves valid JSON and removes thoughts from its strings: %s', (_what, answer, expected) => {
    expect(dropThoughts(answer)).toBe(expected);
    const filter = new ThoughtFilter();
    for (const letter of answer) {
      filter.push(letter);
      expect(filter.text).not.toMatch(/secret/);
    }
  });

  it('ends the reply where unterminated thoughts start', () => {
    expect(dropThoughts('Welcome.\n<think>Was that right?')).toBe('Welcome.\n');
  });

  it.each([
    'a',
    '',
    '<',
    '<thin',
    'a < b > c </b>',
    '</thinker>a',
    'analysis of the data',
    'analysisResult is the variable that holds it.',
    'analysis2 is faster',
    'commentaryText = "a"',
    'analyses',
    '{"a": "Write `<think>`."}',
    '{ "a": 1.0, "b": ["c"] }',
    'Analysis: a',
    'assistant',
    'the final assistant',
    '[Think](https://example.org/)',
    '[think]: https://example.org/',
    'Write `<think>` and `</think>`.',
    'Write ``a ` </think>``.',
    '```\n<think>a</think>\n```\nb',
    'a\n\n~~~xml\n</think>\n~~~',
    '- ```\n  </think>\n  ```',
    '> ```\n> </think>\n> ```',
    '`assistantfinal` is a word, and `[/THINK]` a sign',
  ])('does not change %j', (answer) => {
    expect(dropThoughts(answer)).toBe(answer);
  });

  it.each([
    ['code in the answer', '<think>a</think>Write `</think>`.', 'Write `</think>`.'],
    ['code in a thought', '<think>Not `</think>` yet.</think>b', 'b'],
    ['code in a thought and in the answer', '<think>Not `</think>` x</think>b `c`', 'b `c`'],
    ['a fence in a thought', '<think>\n```\n</think>\n```\na</think>b\n```\nc\n```', 'b\n```\nc\n```'],
    ['a stray backtick in a thought', 'a ` b\n</think>Write `</think>`.', 'Write `</think>`.'],
    ['stray backticks in a line', '` `` a ``` </think> `` b', '` `` a ``` </think> `` b'],
    ['stray backticks of other lengths', '` `` ``` </think> ```` b', ' ```` b'],
    ['an escaped backtick', 'a \\`</think>b`', 'b`'],
    ['a fence that does not end', '<think>\n```js\na\n</think>b\n```js\nc\n```', 'b\n```js\nc\n```'],
    ['the end of a fence', 'a\n```js\nx\n```</think>b\n```\nc\n```', 'b\n```\nc\n```'],
    ['the beginning of a fence', '```</think>b', 'b'],
    ['a fence behind the marker', '<think>a</think>```\n</think>\n```', '```\n</think>\n```'],
  ])('distinguishes thought markers from code: %s', (_what, answer, expected) => {
    expect(dropThoughts(answer)).toBe(expected);
  });

  it('returns the same reply for any chunks, and never retracts text', () => {
    const part = fc.constantFrom(
      '<think>',
      '</think>',
      '<thinking a="b">',
      '</Thinking>',
      '[THINK]',
      '[/THINK]',
      '<|channel|>',
      'analysis',
      'final',
      '<|message|>',
      '<|end|>',
      'assistantfinal',
      'assistant',
      '`',
      '``',
      '```',
      '\n',
      '\n```\n',
      '~~~\n',
      '\\',
      '<',
      '[',
      '>',
      '- ',
      '1. ',
      ' ',
      'a',
      '😀',
    );
    const property = fc.property(fc.array(part, { maxLength: 24 }), fc.array(fc.nat(80)), (parts, places) => {
      const answer = parts.join('');
      const filter = new ThoughtFilter();
      const ends = [...places.toSorted((a, b) => a - b), answer.length];
      for (const [index, end] of ends.entries()) {
        const piece = answer.slice(ends[index - 1] ?? 0, end);
        filter.push(piece);
        expect(answer.trimStart()).toContain(filter.text);
      }
      const { text } = filter;
      const whole = dropThoughts(answer);
      expect(filter.finish()).toBe(whole);
      expect(answer).toContain(whole.trimStart());
      // If the text contains possible markers or code, later text can still change the reply.
      if (!/[<[`~]|assistant|analysis/.test(answer)) expect(whole.startsWith(text)).toBe(true);
    });
    fc.assert(property, { numRuns: 3_000 });
  });

  it('never returns part of a thought, for any chunks', () => {
    for (const [answer, expected] of [
      ['<think>secret</think>Hello', 'Hello'],
      [harmony('secret', 'Hello'), 'Hello'],
      ['analysisThe secret.assistantfinalHello', 'Hello'],
      ['[THINK]secret `[/THINK]` secret[/THINK]Hello', 'Hello'],
      ['<think>\n```\n</think>\nsecret\n```\n</think>Hello', 'Hello'],
    ] as const)
      for (const size of [1, 2, 3, 7]) {
        const filter = new ThoughtFilter();
        for (let at = 0; at < answer.length; at += size) {
          filter.push(answer.slice(at, at + size));
          expect(expected.startsWith(filter.text)).toBe(true);
        }
        expect(filter.finish()).toBe(expected);
      }
  });

  it('removes thoughts in linear time', () => {
    const size = 200_000;
    const runs = Array.from({ length: 600 }, (_, length) => '`'.repeat(length + 1)).join(' ');
    for (const text of [
      '<',
      '[',
      '<think',
      '`</think>',
      '` `` ',
      '```\n',
      '\\',
      '<|channel|>',
      'a ` </think>\n',
      '<think a',
      runs,
      '\n1. - ',
      'analysis',
      ' ',
    ]) {
      const answer = text.repeat(Math.ceil(size / text.length));
      const before = process.cpuUsage();
      dropThoughts(answer);
      const filter = new ThoughtFilter();
      for (let at = 0; at < answer.length; at += 16) filter.push(answer.slice(at, at + 16));
      filter.finish();
      expect([text.slice(0, 20), process.cpuUsage(before).user < 5_000_000]).toEqual([text.slice(0, 20), true]);
    }
  });

  it('reports thoughts without an opening marker', () => {
    expect(
      ['a</think>b', '<think>a</think>b', 'b', 'b `</think>`'].map((answer) => readThoughts(answer).isUnopened),
    ).toEqual([true, false, false, false]);
  });
});
