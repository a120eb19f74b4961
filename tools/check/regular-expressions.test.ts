import { describe, expect, it } from '@jest/globals';
import { findProblems } from './regular-expressions.ts';
import { findSuperLinear } from './super-linear.ts';

const dashes = 'const a = 1;\nconst arrow = /-{2,}>/g;';

describe('the check of regular expressions', () => {
  it.each([
    ['-{2,}>', 'g', 'is tried from each character of a run of "-"'],
    ['0+$', '', 'is tried from each character of a run of "0"'],
    ['(a+)+$', '', 'backtracks exponentially'],
    [String.raw`^\d+\d*x`, '', 'backtracks within itself'],
    ['<[a-z][^>]*>', 'gi', 'reads [^>]* again from each place'],
    [String.raw`\bfoo.*bar`, '', 'reads .* again from each place'],
    [String.raw`(?:<!--)[\s\S]*?-->`, 'g', 'again from each place'],
  ])('rejects the expression /%s/%s', (source, flags, problem) => {
    expect(findSuperLinear({ source, flags })).toContain(problem);
  });

  it.each([
    ['-+>?', 'g'],
    ['(?<!0)0+$', ''],
    ['<[a-z][^<>]*>', 'gi'],
    ['^<.*>$', 's'],
    [String.raw`\bfoo\w*x`, ''],
    [String.raw`^\d+(?:\.\d*)?$`, ''],
    [String.raw`"[^"]*"`, 'g'],
    [String.raw`[\p{L}--[a-z]]+`, 'v'],
  ])('accepts the expression /%s/%s', (source, flags) => {
    expect(findSuperLinear({ source, flags })).toBeUndefined();
  });

  it('reports the position of a literal, of a text that is compiled to an expression, and of a schema pattern', () => {
    const text = `${dashes}\nnew RegExp('(a+)+$', 'u');\nType.String({ pattern: '^(a+)+$' });`;
    expect(findProblems('x.ts', text).map((line) => line.split(' ')[0])).toEqual(['x.ts:2:', 'x.ts:3:', 'x.ts:4:']);
  });

  it('accepts an expression with a reason on the same or the previous line, but not with an empty reason', () => {
    expect(findProblems('x.ts', `${dashes} // super-linear: at most 9 characters`)).toEqual([]);
    expect(findProblems('x.ts', dashes.replace('\n', '\n// super-linear: at most 9 characters\n'))).toEqual([]);
    expect(findProblems('x.ts', `${dashes} // super-linear: `)).toHaveLength(1);
    expect(
      findProblems('x.ts', dashes.replace('const a', '// super-linear: at most 9 characters\nconst a')),
    ).toHaveLength(1);
  });
});
