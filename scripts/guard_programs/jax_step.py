"""Gradient steps of a small network in JAX; the loss must fall."""
import jax
import jax.numpy as jnp


def loss(weights, x, y):
    for w in weights[:-1]:
        x = jax.nn.relu(x @ w)
    return jnp.mean((x @ weights[-1] - y) ** 2)


keys = jax.random.split(jax.random.PRNGKey(0), 4)
weights = [jax.random.normal(key, shape) * 0.1
           for key, shape in zip(keys, ((33, 65), (65, 129), (129, 7)))]
x = jax.random.normal(keys[3], (100, 33))
y = jnp.sin(x[:, :7])
step = jax.jit(lambda w: [a - 0.05 * g for a, g in zip(w, jax.grad(loss)(w, x, y))])
first = loss(weights, x, y)
for _ in range(200):
    weights = step(weights)
last = loss(weights, x, y)
print(f"jax on {jax.devices()[0].platform}: learned {bool(last < first)}")
