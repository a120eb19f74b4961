/** HTTP rules (docs/rules/http.md) on sizes, ids, datetimes, characters and numbers. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Probe, startGatewayFixture } from './fixture.ts';

let fixture: Probe;
beforeAll(async () => {
  fixture = await startGatewayFixture(import.meta.url);
});
afterAll(() => fixture.stop());

const thing = '/api/probe/things/7';
const patch = (json: unknown) => fixture.call('PATCH', thing, { json });
const items = async (json: unknown) => (await patch(json)).json.detail.map(({ type, loc }) => [type, loc.slice(2)]);

describe('JSON body cap (rules/http#json-body-cap)', () => {
  const sized = (bytes: number): string => `{"infos":{"a":"${'x'.repeat(bytes - 18)}"}}`;

  it('accepts a JSON body of exactly 4 194 304 bytes and rejects one more byte with 413', async () => {
    const exact = sized(4_194_304);
    expect(Buffer.byteLength(exact)).toBe(4_194_304);
    const passed = await fixture.call('PATCH', thing, { body: exact });
    expect([passed.status, passed.json.infos.a.length]).toEqual([200, 4_194_304 - 18]);
    const refused = await fixture.call('PATCH', thing, { body: sized(4_194_305) });
    expect([refused.status, refused.json]).toEqual([413, { detail: expect.any(String) }]);
  });

  it('applies the JSON body cap also to a body without a Content-Length', async () => {
    const send = async (bytes: number) => {
      const response = await fetch(`http://127.0.0.1:${fixture.port}${thing}`, {
        method: 'PATCH',
        headers: { authorization: 'Bearer probe-token' },
        body: new Blob([sized(bytes)]).stream(),
        duplex: 'half',
      });
      return response.status;
    };
    expect([await send(4_194_304), await send(4_194_305)]).toEqual([200, 413]);
  });

  it.each([
    [64, 200],
    [65, 400],
    [200_000, 400],
  ])('responds to %i nesting levels with status %i', async (levels, status) => {
    const nested = `{"infos":${'{"a":'.repeat(levels - 2)}[]${'}'.repeat(levels - 2)}}`;
    expect((await fixture.call('PATCH', thing, { body: nested })).status).toBe(status);
  });

  it('ignores brackets inside strings when counting nesting', async () => {
    expect((await patch({ infos: { a: `\\"${'['.repeat(500)}` } })).status).toBe(200);
  });
});

describe('Ids (rules/http#ids)', () => {
  it.each(['0', '-1', '2147483648', '99999999999999999999', '-99999999999999999999'])(
    'returns 404 for the path id %s',
    async (id) => {
      const reply = await fixture.call('GET', `/api/probe/things/${id}`);
      expect([reply.status, reply.json]).toEqual([404, { detail: 'Not Found' }]);
    },
  );

  it.each(['abc', '1.5', '1e3', '0x10', '%20', 'null', '١'.normalize()])(
    'returns 422 for the path id %s',
    async (id) => {
      const reply = await fixture.call('GET', `/api/probe/things/${encodeURI(id)}`);
      expect([reply.status, reply.json.detail[0]]).toEqual([
        422,
        expect.objectContaining({ type: 'int_parsing', loc: ['path', 'thing_id'] }),
      ]);
    },
  );

  it('accepts the largest id in a path', async () => {
    expect((await fixture.call('GET', '/api/probe/things/2147483647')).json).toEqual({ thing_id: 2_147_483_647 });
  });

  it.each([
    ['0', 0],
    ['-3', -3],
    ['2147483648', 0],
    ['99999999999999999999', 0],
    ['-99999999999999999999', 0],
  ])('forwards the query id %s, for which no object exists', async (text, id) => {
    expect((await fixture.call('GET', `/api/probe/list?person_id=${text}`)).json).toEqual({ limit: 20, person_id: id });
  });

  it('parses lists of ids in a query (D18)', async () => {
    const ids = async (query: string) => {
      const reply = await fixture.call('GET', `/api/probe/batch${query}`);
      return reply.status === 200 ? reply.json.ids : reply.json.detail.map(({ type, loc }) => [type, loc]);
    };
    expect(await ids('?ids=3,%201,,3,99999999999')).toEqual([3, 1, 0]);
    expect(await ids('?ids=')).toEqual([]);
    expect(await ids('')).toEqual([['missing', ['query', 'ids']]]);
    expect(await ids('?ids=1,x')).toEqual([['int_parsing', ['query', 'ids']]]);
    expect(await ids(`?ids=${Array.from({ length: 50 }, (_, index) => index + 1).join(',')}`)).toHaveLength(50);
    expect(await ids(`?ids=${Array.from({ length: 51 }, () => 1).join(',')}`)).toEqual([
      ['too_long', ['query', 'ids']],
    ]);
  });
});

describe('Lists in queries (rules/http#lists-in-queries; D103)', () => {
  it.each([
    ['types=a,b', 'a,b'],
    ['types=a&types=b', 'a,b'],
    ['types[]=a&types[]=b', 'a,b'],
    ['types%5B%5D=a&types%5b%5d=b', 'a,b'],
    ['types[0]=a&types[1]=b', 'a,b'],
    ['types[]=a,b&types=c&types[]=d,%20e', 'a,b,c,d,e'],
    ['types=a&limit=3&types[]=b%2Cc', 'a,b,c'],
    ['types=a%2Cb', 'a,b'],
    ['types=a&types=&types[]=,', 'a'],
    ['types[]=', ''],
    ['types', ''],
    ['type[]=a&[]=b&types[x]=c&xtypes[]=d', undefined],
  ])('joins the list values of the query %s in order', async (query, types) => {
    const { json } = await fixture.call('GET', `/api/probe/list?${query}`);
    expect((json as { types?: string }).types).toBe(types);
  });

  it.each(['ids=3,1,2', 'ids=3&ids=1&ids=2', 'ids[]=3&ids=1,2', 'ids%5B%5D=3&ids[]=1&ids[]=2'])(
    'joins the list numbers of the query %s in order',
    async (query) => {
      expect((await fixture.call('GET', `/api/probe/batch?${query}`)).json.ids).toEqual([3, 1, 2]);
    },
  );

  it('validates the joined values of a list', async () => {
    const problems = async (path: string) =>
      (await fixture.call('GET', path)).json.detail.map(({ type, loc }) => [type, loc]);
    expect(await problems('/api/probe/batch?ids[]=1&ids[]=x')).toEqual([['int_parsing', ['query', 'ids']]]);
    expect(await problems(`/api/probe/batch?${'ids[]=1&'.repeat(51)}`)).toEqual([['too_long', ['query', 'ids']]]);
    expect(await problems(`/api/probe/list?${'types=abcd&'.repeat(5)}`)).toEqual([
      ['string_too_long', ['query', 'types']],
    ]);
    expect(await problems('/api/probe/list?types[]=a%00')).toEqual([['string_unicode', ['query', 'types']]]);
  });

  it('ignores `[]` after the name of a parameter that is not a list', async () => {
    expect((await fixture.call('GET', '/api/probe/list?limit=3&limit[]=4')).json).toEqual({ limit: 3 });
  });
});

describe('Datetimes in requests (rules/http#datetimes-in)', () => {
  it.each([
    ['2026-05-01T10:00:00Z', '2026-05-01T10:00:00Z'],
    ['2026-05-01T10:00:00%2B02:00', '2026-05-01T10:00:00+02:00'],
    ['2026-05-01T10:00:00+02:00', '2026-05-01T10:00:00+02:00'],
    ['2026-05-01T10:00:00.123456+0200', '2026-05-01T10:00:00.123456+0200'],
    ['2026-05-01%2010:00:00', '2026-05-01 10:00:00'],
    ['2026-05-01T10:00:00', '2026-05-01T10:00:00'],
  ])('parses time=%s', async (raw, time) => {
    expect((await fixture.call('GET', `/api/probe/list?time=${raw}`)).json).toEqual({ limit: 20, time });
  });
});

describe('Strings, keys included, with U+0000 or a lone surrogate (rules/http#strings)', () => {
  it.each([
    ['{"infos":{"a":"x\\u0000"}}', ['infos', 'a']],
    ['{"infos":{"a":["ok","\\ud800"]}}', ['infos', 'a', 1]],
    ['{"infos":{"a\\u0000":1}}', ['infos', 'a\u0000']],
    ['{"infos":{"\\udc00x":1}}', ['infos', '\\udc00x']],
    ['{"unknown":"\\u0000"}', ['unknown']],
  ])('returns 422 for a string with %s', async (body, path) => {
    const reply = await fixture.call('PATCH', thing, { body });
    expect(reply.status).toBe(422);
    expect(reply.json.detail[0]?.type).toBe('string_unicode');
    expect(JSON.stringify(reply.json.detail[0]?.loc)).toBe(
      JSON.stringify(['body', 'payload', ...path]).replace('\\\\udc00', '\\udc00'),
    );
  });

  it('accepts complete surrogate pairs', async () => {
    expect((await fixture.call('PATCH', thing, { body: '{"infos":{"a":"\\ud83d\\ude00"}}' })).json.infos).toEqual({
      a: '😀',
    });
  });

  it.each(['a%00', '%07', 'a%0Ab', '%7F', 'a%C2%9F'])(
    'returns 404 for control characters in a slug: %s (D74)',
    async (slug) => {
      const reply = await fixture.call('GET', `/api/probe/slugs/${slug}`);
      expect([reply.status, reply.json]).toEqual([404, { detail: 'Not Found' }]);
    },
  );

  it('accepts all other characters in a slug', async () => {
    expect((await fixture.call('GET', '/api/probe/slugs/a%20%C2%A0b')).json).toEqual({ slug: 'a \u00a0b' });
  });
});

describe('Years 0001 to 9999 (rules/http#datetimes-in)', () => {
  it.each(['0001-01-01T00:00:00Z', '9999-12-31T23:59:59.999999Z'])('accepts the datetime %s as sent', async (at) => {
    expect((await patch({ at })).json.at).toBe(at);
  });

  it.each(['0000-12-31T23:59:59Z', '10000-01-01T00:00:00Z', '2026-02-30T00:00:00Z', '2026-05-01'])(
    'rejects the datetime %s',
    async (at) => {
      expect(await items({ at })).toEqual([['datetime_parsing', ['at']]]);
    },
  );
});

describe('Integers above 2^53 inside infos and config (rules/http#numbers-and-keys)', () => {
  it('preserves integers above 2^53 in a round trip', async () => {
    const body = '{"infos":{"a":9007199254740993,"b":[-12345678901234567890],"c":1.0,"d":1e2}}';
    expect((await fixture.call('PATCH', thing, { body })).text).toBe(`${body.slice(0, -1)},"thing_id":7}`);
  });

  it('converts integral numbers to integers where the schema requires an integer', async () => {
    expect((await fixture.call('PATCH', thing, { body: '{"version":5.0}' })).json).toEqual({ version: 5, thing_id: 7 });
    expect((await fixture.call('PATCH', thing, { body: '{"version":5.5}' })).status).toBe(422);
    expect((await fixture.call('PATCH', thing, { body: '{"count":9007199254740993}' })).json.detail[0]?.type).toBe(
      'less_than_equal',
    );
  });

  it('rejects numbers that the database cannot store', async () => {
    const reply = await fixture.call('PATCH', thing, { body: '{"infos":{"a":1e5000}}' });
    expect([reply.status, reply.json.detail[0]?.loc]).toEqual([422, ['body', 'payload', 'infos', 'a']]);
  });
});

describe('keys such as __proto__ and constructor (rules/http#numbers-and-keys)', () => {
  it('treats __proto__ and constructor as plain data', async () => {
    const body =
      '{"infos":{"__proto__":{"admin":true},"constructor":{"prototype":1},"toString":"x","hasOwnProperty":2}}';
    expect((await fixture.call('PATCH', thing, { body })).text).toBe(`${body.slice(0, -1)},"thing_id":7}`);
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
  });

  it('ignores __proto__ and constructor as unknown fields and parameters', async () => {
    expect(
      (
        await fixture.call('PATCH', `${thing}?__proto__=1&constructor=2`, {
          body: '{"__proto__":{"count":5},"constructor":1}',
        })
      ).json,
    ).toEqual({ thing_id: 7 });
  });
});
