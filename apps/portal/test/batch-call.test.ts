import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { batchCall } from '../src/screens/rule/batch-call.ts';

const credential = { kind: 'api_key' as const, variable: 'CARILLON_API_KEY', advice: '' };

describe('batchCall', () => {
  it('sends the event on two lines with the media type of a batch', () => {
    const event = '{\n  "order_id": "it\'s \\n 1",\n  "total": 9007199254740993\n}';
    const command = batchCall({ url: 'https://events.example.com/events/shop/orders', event, credential });
    expect(command).toContain("-X POST 'https://events.example.com/events/shop/orders' --data-binary @-");
    expect(command).toContain("'Content-Type: application/x-ndjson'");
    // The shell writes the lines that curl would send.
    const lines = execFileSync('sh', ['-c', `${command.slice(0, command.indexOf(' |\n'))}\n`], { encoding: 'utf8' });
    const line = '{ "order_id": "it\'s \\n 1", "total": 9007199254740993 }';
    expect(lines).toBe(`${line}\n${line}\n`);
  });
});
