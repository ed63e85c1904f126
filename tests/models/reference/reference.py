#!/usr/bin/env python3
"""Writes golden folders from a plain float64 implementation that shares no code with this project.

    python3 reference.py [FOLDER]        default: ../golden

It has what the other golden folders do not show: biases, Llama-3 rotary scaling, yarn in grouped-query attention, dense
layers between sparse ones, gating without renormalisation, latent attention without q_lora_rank and on halves. The
whole sequence is computed again for each token; nothing is cached. Formulas follow Hugging Face transformers.
"""
import json, math, os, random, struct, sys

def f32(x): return struct.unpack("<f", struct.pack("<f", x))[0]
def matvec(w, x, b=None):
    y = [math.fsum(a * c for a, c in zip(row, x)) for row in w]
    return y if b is None else [p + q for p, q in zip(y, b)]
def add(a, b): return [x + y for x, y in zip(a, b)]
def rms(x, w, eps):
    s = 1 / math.sqrt(math.fsum(v * v for v in x) / len(x) + eps)
    return [v * s * g for v, g in zip(x, w)]
def silu(x): return x / (1 + math.exp(-x))
def softmax(x):
    m = max(x)
    e = [math.exp(v - m) for v in x]
    s = math.fsum(e)
    return [v / s for v in e]

class Rope:
    """inv_freq and the factor of cos and sin, from rope_scaling or rope_parameters."""
    def __init__(self, c, dim):
        rule = c.get("rope_parameters") or c.get("rope_scaling") or {}
        base = rule.get("rope_theta", c.get("rope_theta", 10000.0))
        kind = rule.get("rope_type", rule.get("type", "default"))
        plain = [1 / base ** (2 * i / dim) for i in range(dim // 2)]
        self.factor, self.inv = 1.0, plain
        if kind == "linear":
            self.inv = [f / rule["factor"] for f in plain]
        if kind == "llama3":
            old, low, high = rule["original_max_position_embeddings"], rule["low_freq_factor"], rule["high_freq_factor"]
            self.inv = []
            for f in plain:
                wave = 2 * math.pi / f
                if wave < old / high: self.inv.append(f)
                elif wave > old / low: self.inv.append(f / rule["factor"])
                else:
                    smooth = (old / wave - low) / (high - low)
                    self.inv.append((1 - smooth) * f / rule["factor"] + smooth * f)
        if kind == "yarn":
            old, s = rule["original_max_position_embeddings"], rule["factor"]
            def turn(n): return dim * math.log(old / (n * 2 * math.pi)) / (2 * math.log(base))
            low = max(math.floor(turn(rule.get("beta_fast", 32))), 0)
            high = min(math.ceil(turn(rule.get("beta_slow", 1))), dim - 1)
            if low == high: high += 0.001
            ramp = [min(max((i - low) / (high - low), 0), 1) for i in range(dim // 2)]
            self.inv = [f / s * r + f * (1 - r) for f, r in zip(plain, ramp)]
            self.factor = 0.1 * math.log(s) + 1
    def turn(self, x, position, halves):
        """Pairs (i, i + d/2), or (2i, 2i + 1) with the first members first."""
        n = len(x) // 2
        a, b = (x[:n], x[n:]) if halves else (x[0::2], x[1::2])
        cos = [math.cos(position * f) * self.factor for f in self.inv]
        sin = [math.sin(position * f) * self.factor for f in self.inv]
        return [p * c - q * s for p, q, c, s in zip(a, b, cos, sin)] + [q * c + p * s for p, q, c, s in zip(a, b, cos, sin)]

class Model:
    def __init__(self, config, seed):
        self.c, self.rng, self.w = config, random.Random(seed), {}
        mla = "kv_lora_rank" in config
        self.rope = Rope(config, config["qk_rope_head_dim"] if mla else config["head_dim"])
    # ---- weights are made where they are first read, so that the folder holds what the model reads
    def t(self, name, *shape):
        if name not in self.w:
            if len(shape) == 2:
                a = math.sqrt(3 / shape[1]) * (4 if name in ("lm_head.weight", "model.embed_tokens.weight") else 1)
                data = [[f32(self.rng.uniform(-a, a)) for _ in range(shape[1])] for _ in range(shape[0])]
            else:
                center, spread = (1, 0.3) if name.endswith("norm.weight") else (0, 0.3)
                data = [f32(center + self.rng.uniform(-spread, spread)) for _ in range(shape[0])]
            self.w[name] = data
        return self.w[name]
    def linear(self, name, x, n, bias=False):
        w = self.t(name + ".weight", n, len(x))
        return matvec(w, x, self.t(name + ".bias", n) if bias else None)
    def norm(self, name, x, eps): return rms(x, self.t(name + ".weight", len(x)), eps)
    # ---- attention: rows of one sequence
    def attend(self, q, k, v, scale):
        """q[t][h], k[t][g], v[t][g]: causal."""
        out = []
        group = len(q[0]) // len(k[0])
        for t in range(len(q)):
            row = []
            for h in range(len(q[t])):
                g = h // group
                p = softmax([scale * math.fsum(a * b for a, b in zip(q[t][h], k[s][g])) for s in range(t + 1)])
                row += [math.fsum(p[s] * v[s][g][d] for s in range(t + 1)) for d in range(len(v[0][g]))]
            out.append(row)
        return out
    def gqa(self, at, xs):
        c, D, bias = self.c, self.c["head_dim"], self.c.get("attention_bias", False)
        H, G = c["num_attention_heads"], c["num_key_value_heads"]
        def heads(name, x, n): 
            y = self.linear(f"{at}.{name}", x, n * D, bias)
            return [y[i * D:(i + 1) * D] for i in range(n)]
        q, k, v = [], [], []
        for t, x in enumerate(xs):
            qs, ks = heads("q_proj", x, H), heads("k_proj", x, G)
            if c["model_type"].startswith("qwen3"):
                qs = [self.norm(at + ".q_norm", y, c["rms_norm_eps"]) for y in qs]
                ks = [self.norm(at + ".k_norm", y, c["rms_norm_eps"]) for y in ks]
            q.append([self.rope.turn(y, t, True) for y in qs])
            k.append([self.rope.turn(y, t, True) for y in ks])
            v.append(heads("v_proj", x, G))
        return [self.linear(at + ".o_proj", y, len(xs[0]), bias) for y in self.attend(q, k, v, D ** -0.5)]
    def mla(self, at, xs):
        c, H, bias, halves = self.c, self.c["num_attention_heads"], self.c["attention_bias"], not self.c["rope_interleave"]
        N, P, R, V = c["qk_nope_head_dim"], c["qk_rope_head_dim"], c["kv_lora_rank"], c["v_head_dim"]
        q, k, v = [], [], []
        for t, x in enumerate(xs):
            if c["q_lora_rank"]:
                a = self.norm(at + ".q_a_layernorm", self.linear(at + ".q_a_proj", x, c["q_lora_rank"], bias), 1e-6)
                y = self.linear(at + ".q_b_proj", a, H * (N + P))
            else:
                y = self.linear(at + ".q_proj", x, H * (N + P))
            ckv = self.linear(at + ".kv_a_proj_with_mqa", x, R + P, bias)
            kv = self.linear(at + ".kv_b_proj", self.norm(at + ".kv_a_layernorm", ckv[:R], 1e-6), H * (N + V))
            pe = self.rope.turn(ckv[R:], t, halves)
            q.append([y[h * (N + P):h * (N + P) + N] + self.rope.turn(y[h * (N + P) + N:(h + 1) * (N + P)], t, halves) for h in range(H)])
            k.append([kv[h * (N + V):h * (N + V) + N] + pe for h in range(H)])
            v.append([kv[h * (N + V) + N:(h + 1) * (N + V)] for h in range(H)])
        scale = (N + P) ** -0.5
        rule = c.get("rope_parameters") or c.get("rope_scaling") or {}
        if rule.get("mscale_all_dim"): scale *= (0.1 * rule["mscale_all_dim"] * math.log(rule["factor"]) + 1) ** 2
        return [self.linear(at + ".o_proj", y, len(xs[0]), bias) for y in self.attend(q, k, v, scale)]
    # ---- networks
    def mlp(self, at, x, width, bias=False):
        gate, up = self.linear(at + ".gate_proj", x, width, bias), self.linear(at + ".up_proj", x, width, bias)
        return self.linear(at + ".down_proj", [silu(g) * u for g, u in zip(gate, up)], len(x), bias)
    def moe(self, at, x):
        c, deepseek = self.c, self.c["model_type"] == "deepseek_v3"
        n = c["n_routed_experts"] if deepseek else c["num_experts"]
        logits = matvec(self.t(at + ".gate.weight", n, len(x)), x)
        for e in range(n): self.mlp(f"{at}.experts.{e}", x, c["moe_intermediate_size"])  # every expert is in the folder
        if deepseek:
            s = [1 / (1 + math.exp(-v)) for v in logits]
            choice = add(s, self.t(at + ".gate.e_score_correction_bias", n))
            size = n // c["n_group"]
            best = [sum(sorted(choice[g * size:(g + 1) * size])[-2:]) for g in range(c["n_group"])]
            kept = sorted(range(c["n_group"]), key=lambda g: (-best[g], g))[:c["topk_group"]]
            open_ = [e for e in range(n) if e // size in kept]
        else:
            s = choice = softmax(logits)
            open_ = list(range(n))
        chosen = sorted(open_, key=lambda e: (-choice[e], e))[:c["num_experts_per_tok"]]
        total = math.fsum(s[e] for e in chosen) if c["norm_topk_prob"] else 1.0
        y = [0.0] * len(x)
        for e in chosen:
            weight = s[e] / total * c.get("routed_scaling_factor", 1.0)
            y = add(y, [weight * v for v in self.mlp(f"{at}.experts.{e}", x, c["moe_intermediate_size"])])
        shared = c.get("n_shared_experts") or 0
        return add(y, self.mlp(at + ".shared_experts", x, c["moe_intermediate_size"] * shared)) if shared else y
    def sparse(self, i):
        c = self.c
        if c["model_type"] == "deepseek_v3": return i >= c["first_k_dense_replace"] and i % c["moe_layer_freq"] == 0
        return "num_experts" in c and i not in c["mlp_only_layers"] and (i + 1) % c["decoder_sparse_step"] == 0
    def logits(self, ids):
        """Of the last token."""
        c, eps = self.c, self.c["rms_norm_eps"]
        embed = self.t("model.embed_tokens.weight", c["vocab_size"], c["hidden_size"])
        hs = [embed[i] for i in ids]
        for i in range(c["num_hidden_layers"]):
            at = f"model.layers.{i}"
            xs = [self.norm(at + ".input_layernorm", h, eps) for h in hs]
            hs = [add(h, y) for h, y in zip(hs, (self.mla if "kv_lora_rank" in c else self.gqa)(at + ".self_attn", xs))]
            for t, h in enumerate(hs):
                x = self.norm(at + ".post_attention_layernorm", h, eps)
                hs[t] = add(h, self.moe(at + ".mlp", x) if self.sparse(i) else
                            self.mlp(at + ".mlp", x, c["intermediate_size"], c.get("mlp_bias", False)))
        head = embed if c["tie_word_embeddings"] else self.t("lm_head.weight", c["vocab_size"], c["hidden_size"])
        return matvec(head, self.norm("model.norm", hs[-1], eps))

COMMON = {"hidden_act": "silu", "bos_token_id": 1, "eos_token_id": 2, "max_position_embeddings": 128, "torch_dtype": "float32"}
FOLDERS = {
    "llama3_biases": (7, {**COMMON, "model_type": "llama", "attention_bias": True, "mlp_bias": True, "rms_norm_eps": 1e-5,
        "rope_parameters": {"rope_type": "llama3", "rope_theta": 500.0, "factor": 8.0, "low_freq_factor": 1.0,
                            "high_freq_factor": 4.0, "original_max_position_embeddings": 32},
        "tie_word_embeddings": True, "num_hidden_layers": 2, "hidden_size": 24, "intermediate_size": 30, "head_dim": 12,
        "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 50}),
    "qwen3_moe_mixed": (8, {**COMMON, "model_type": "qwen3_moe", "attention_bias": True, "rms_norm_eps": 1e-6,
        "rope_theta": 1000.0, "rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16},
        "tie_word_embeddings": False, "decoder_sparse_step": 2, "mlp_only_layers": [1], "norm_topk_prob": False,
        "num_experts": 5, "num_experts_per_tok": 2, "moe_intermediate_size": 7, "num_hidden_layers": 4, "hidden_size": 20,
        "intermediate_size": 26, "head_dim": 10, "num_attention_heads": 3, "num_key_value_heads": 1, "vocab_size": 45}),
    "deepseek_v3_plain_query": (9, {**COMMON, "model_type": "deepseek_v3", "attention_bias": True, "rms_norm_eps": 1e-6,
        "rope_parameters": {"rope_theta": 100.0, "rope_type": "yarn", "factor": 3.0, "original_max_position_embeddings": 24,
                            "beta_fast": 16, "beta_slow": 2},
        "rope_interleave": False, "tie_word_embeddings": False, "scoring_func": "sigmoid", "topk_method": "noaux_tc",
        "norm_topk_prob": False, "n_group": 3, "topk_group": 2, "n_routed_experts": 6, "n_shared_experts": None,
        "num_experts_per_tok": 3, "routed_scaling_factor": 1.5, "first_k_dense_replace": 0, "moe_layer_freq": 2,
        "num_hidden_layers": 3, "hidden_size": 18, "intermediate_size": 22, "moe_intermediate_size": 8,
        "num_attention_heads": 3, "num_key_value_heads": 3, "q_lora_rank": None, "kv_lora_rank": 11, "qk_nope_head_dim": 7,
        "qk_rope_head_dim": 8, "v_head_dim": 6, "vocab_size": 40}),
}

def write_safetensors(path, tensors):
    header, data = {}, b""
    for name, t in tensors.items():
        flat = [v for row in t for v in row] if isinstance(t[0], list) else t
        shape = [len(t), len(t[0])] if isinstance(t[0], list) else [len(t)]
        raw = struct.pack(f"<{len(flat)}f", *flat)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f: f.write(struct.pack("<Q", len(text)) + text + data)

def main():
    out = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden")
    for name, (seed, config) in FOLDERS.items():
        model, rng, requests = Model(config, seed), random.Random(seed + 1000), []
        for length, steps in ((6, 8), (1, 8), (19, 6)):
            prompt = [rng.randrange(config["vocab_size"]) for _ in range(length)]
            ids, tokens, logits, gaps = list(prompt), [], [], []
            for _ in range(steps):
                row = model.logits(ids)
                order = sorted(range(len(row)), key=lambda i: (-row[i], i))
                tokens.append(order[0])
                gaps.append(row[order[0]] - row[order[1]])
                logits.append([float(f"{v:.8g}") for v in row])
                ids.append(order[0])
            requests.append({"prompt_ids": prompt, "greedy": {"tokens": tokens, "top2_gap": gaps, "logits": logits}})
        folder = os.path.join(out, name)
        os.makedirs(folder, exist_ok=True)
        write_safetensors(os.path.join(folder, "model.safetensors"), model.w)
        with open(os.path.join(folder, "config.json"), "w") as f: json.dump(config, f, indent=1)
        golden = {"model_type": config["model_type"], "arithmetic": "float64 on the stored weights",
                  "suggested_tolerance": {"logits_abs": 0.0002, "logits_rel": 0.0002}, "requests": requests}
        with open(os.path.join(folder, "golden.json"), "w") as f: json.dump(golden, f)
        print(name, min(min(r["greedy"]["top2_gap"]) for r in requests))

if __name__ == "__main__":
    main()
