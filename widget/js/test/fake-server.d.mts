export class FakeServer {
  requests: string[];
  sessions: Map<string, { post(content: string, idempotencyKey: string): unknown }>;
  tokens: Set<string>;
  failing: Map<string, number>;
  paceMs: number;
  heartbeatMs: number;
  origin: string;
  listen(port?: number): Promise<string>;
  close(): Promise<void>;
  dropStreams(): void;
  streamCount(): number;
}
