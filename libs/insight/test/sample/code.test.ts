import { describe, expect, it } from 'vitest';
import { codeSample, credentialOf, type CodeFacts } from '../../src/index.ts';

const facts = (event: CodeFacts['event']): CodeFacts => ({
  url: "http://events.example/it's",
  event,
  credential: credentialOf({ api_keys: ['backend'] }),
  notes: ['Sends an event.'],
});

/* That the programs run, and send what they should, is shown in test/integration/product/code-samples.proof.test.ts. */

describe('a code sample', () => {
  it('in curl is one command', () => {
    expect(codeSample('curl', facts({ status: 'paid', note: "it's", lines: [{ qty: 2 }], none: [] })))
      .toBe(`# Sends an event.
# CARILLON_API_KEY: An API key belongs on a server, never in a page or an app.
# The same Idempotency-Key is the same event: send it again with it if no answer comes.
curl -sS --fail-with-body -X POST 'http://events.example/it'\\''s' \\
  -H "Authorization: Bearer \${CARILLON_API_KEY:?is not set}" \\
  -H 'Content-Type: application/json' \\
  -H "Idempotency-Key: $(od -An -N16 -tx1 /dev/urandom | tr -d ' \\n')" \\
  -d '{
  "status": "paid",
  "note": "it\\u0027s",
  "lines": [
    {
      "qty": 2
    }
  ],
  "none": []
}'
`);
  });

  it('writes values in the syntax of the language', () => {
    const event = { gone: null, open: true, id: 9007199254740993n };
    expect(codeSample('python', facts(event))).toContain(
      '{\n    "gone": None,\n    "open": True,\n    "id": 9007199254740993\n}',
    );
    expect(codeSample('javascript', facts(event))).toContain('"id": JSON.rawJSON("9007199254740993")');
    expect(codeSample('go', facts(event))).toContain('const event = `{\n\t"gone": null,');
  });

  it('keeps a field named like the JavaScript prototype', () => {
    const event = Object.fromEntries([['__proto__', 1]]);
    expect(codeSample('javascript', facts(event))).toContain('["__proto__"]: 1');
  });

  it('escapes invisible characters', () => {
    for (const language of ['curl', 'javascript', 'python', 'go'] as const) {
      expect(codeSample(language, facts({ a: 'x\u202ey\u007f' }))).toContain('x\\u202ey\\u007f');
    }
  });
});
