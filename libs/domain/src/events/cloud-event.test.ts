import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readCloudEvent, readCloudEventHeaders } from './cloud-event.ts';
import { spanOfField } from './json-scan.ts';

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const attributes = '"specversion":"1.0","id":"A-1","source":"/shop","type":"order.paid"';

describe('readCloudEvent (reads an event in the CloudEvents JSON format)', () => {
  it('returns the bytes of its data field unchanged, wherever the field is', () => {
    const data = '{ "total": 1.50, "n": 9007199254740993, "text": "a\\"}b, {" }';
    for (const text of [
      `{${attributes},"data":${data}}`,
      `{"data": ${data} ,${attributes}}`,
      ` {"x":["data",{"data":1}],"data"\n:\t${data}\r\n, ${attributes}} `,
    ]) {
      const read = readCloudEvent(bytesOf(text));
      if (!read.ok) throw new Error(read.error.detail);
      expect(textOf(read.value.data.bytes)).toBe(data);
      expect(read.value).toMatchObject({ source: '/shop', id: 'A-1', traceparent: null });
    }
  });

  it('keeps the traceparent', () => {
    const read = readCloudEvent(bytesOf(`{${attributes},"traceparent":"00-aa","data":{}}`));
    expect(read).toMatchObject({ ok: true, value: { traceparent: '00-aa' } });
  });

  it.each([
    ['invalid_json', '{'],
    ['invalid_json', `{${attributes},"data":}`],
    ['invalid_json', `{${attributes},"data":{}]`],
    ['invalid_json', `{${attributes},"data":{}}{}`],
    ['not_an_object', '[]'],
    ['duplicate_key', `{${attributes},"data":{},"data":{}}`],
    ['duplicate_key', `{${attributes},"data":{},"d\\u0061ta":{}}`],
    ['duplicate_key', `{${attributes},"id":"A-2","data":{}}`],
    ['invalid_cloudevent', `{${attributes}}`],
    ['invalid_cloudevent', `{${attributes},"data_base64":"e30="}`],
    ['invalid_cloudevent', '{"id":"A-1","source":"/shop","type":"t","data":{}}'],
    ['invalid_cloudevent', '{"specversion":"0.3","id":"A-1","source":"/shop","type":"t","data":{}}'],
    ['invalid_cloudevent', '{"specversion":"1.0","id":"","source":"/shop","type":"t","data":{}}'],
    ['invalid_cloudevent', '{"specversion":"1.0","id":7,"source":"/shop","type":"t","data":{}}'],
  ])('refuses as %s: %s', (code, text) => {
    expect(readCloudEvent(bytesOf(text))).toMatchObject({ ok: false, error: { code } });
  });

  it('converts a position within data to a position in the whole body', () => {
    const read = readCloudEvent(bytesOf(`{\n"ä":1,${attributes},\n "data":{"a":\n x}}`));
    if (!read.ok) throw new Error(read.error.detail);
    expect(read.value.data.placeOf(1, 5)).toEqual({ line: 3, column: 13 });
    expect(read.value.data.placeOf(2, 2)).toEqual({ line: 4, column: 2 });
  });
});

describe('readCloudEventHeaders (reads a CloudEvent from HTTP headers)', () => {
  it('reads percent-encoded attributes', () => {
    const headers = { 'ce-specversion': '1.0', 'ce-id': 'Zo%C3%AB', 'ce-source': '/shop', 'ce-type': 't' };
    expect(readCloudEventHeaders(headers)).toEqual({
      ok: true,
      value: { source: '/shop', id: 'Zoë', traceparent: null },
    });
    expect(readCloudEventHeaders({ ...headers, 'ce-id': undefined })).toMatchObject({
      ok: false,
      error: { code: 'invalid_cloudevent', detail: expect.stringContaining('ce-id') as string },
    });
  });
});

it('spanOfField finds the position of a field in any object, and never throws', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue(), (others, value) => {
      const text = JSON.stringify({ ...others, data: value });
      const span = spanOfField(bytesOf(text), 'data');
      expect(span && JSON.parse(textOf(bytesOf(text).subarray(span.from, span.to)))).toEqual(
        JSON.parse(JSON.stringify(value)),
      );
    }),
  );
  fc.assert(fc.property(fc.uint8Array(), (bytes) => void spanOfField(bytes, 'data')));
});
