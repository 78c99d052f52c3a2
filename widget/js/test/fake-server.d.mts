export class FakeServer {
  requests: string[];
  sessions: Map<string, { post(content: string, idempotencyKey: string): unknown }>;
  tokens: Set<string>;
  failing: Map<string, number>;
  paceMs: number;
  heartbeatMs: number;
  origin: string;
  difficulty: number;
  challenges: string[];
  isNeverConvinced: boolean;
  refusesIdentity: boolean;
  needsIdentity: boolean;
  bootstraps: {
    key: string;
    visitor?: string;
    identity?: unknown;
    proof?: { challenge: string; solution: string };
  }[];
  listen(port?: number): Promise<string>;
  close(): Promise<void>;
  dropStreams(): void;
  streamCount(): number;
}
