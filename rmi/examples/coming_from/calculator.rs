//! Cap'n Proto's calculator: values and functions are objects that either side may own, and an
//! expression refers to them.
//!
//! `calculator server ADDRESS` and `calculator client ADDRESS` are the two programs of the
//! original. Without arguments, the program runs both.

use std::env;
use std::error::Error;
use std::io::{self, BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::sync::Arc;

use jstream::Transportable;
use jstream_rmi::{BoxFuture, Client, Referring, Remote, Server, WeakServer, remote};

#[remote]
trait Value {
    fn read(&self) -> f64;
}

#[remote]
trait Function {
    async fn call(&self, params: &[f64]) -> Result<f64, String>;
}

/// A part of an expression. Functions and values are named by their positions in the lists of the
/// expression, parts by those in `parts`.
#[derive(Transportable, Clone)]
enum Part {
    Literal(f64),
    PreviousResult(usize),
    Parameter(usize),
    Call { function: usize, params: Vec<usize> },
}

/// An expression. Its last part is its value.
#[derive(Referring, Clone, Default)]
struct Expression {
    parts: Vec<Part>,
    values: Vec<Remote<dyn Value>>,
    functions: Vec<Remote<dyn Function>>,
}

#[derive(Transportable, Clone, Copy)]
enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
}

#[remote]
trait Calculator {
    async fn evaluate(
        &self,
        expression: Referring<Expression>,
    ) -> Result<Remote<dyn Value>, String>;
    fn define(
        &self,
        params: usize,
        body: Referring<Expression>,
    ) -> Result<Remote<dyn Function>, String>;
    fn operator(&self, operator: Operator) -> Result<Remote<dyn Function>, String>;
}

impl Expression {
    fn evaluate<'a>(
        &'a self,
        part: usize,
        params: &'a [f64],
    ) -> BoxFuture<'a, Result<f64, String>> {
        Box::pin(async move {
            let part = self.parts.get(part).ok_or("a part is missing")?;
            match part {
                Part::Literal(number) => Ok(*number),
                Part::PreviousResult(value) => {
                    let value = self.values.get(*value).ok_or("a value is missing")?;
                    Ok(*value.read().await.map_err(|error| error.to_string())?.get())
                }
                Part::Parameter(at) => Ok(*params
                    .get(*at)
                    .ok_or_else(|| format!("bad parameter: {at}"))?),
                Part::Call {
                    function,
                    params: of,
                } => {
                    let function = self
                        .functions
                        .get(*function)
                        .ok_or("a function is missing")?;
                    let mut numbers = Vec::with_capacity(of.len());
                    for part in of {
                        numbers.push(self.evaluate(*part, params).await?);
                    }
                    let reply = function
                        .call(&numbers)
                        .await
                        .map_err(|error| error.to_string())?;
                    reply.to_owned().map_err(|error| error.to_string())?
                }
            }
        })
    }

    fn result<'a>(&'a self, params: &'a [f64]) -> BoxFuture<'a, Result<f64, String>> {
        self.evaluate(self.parts.len().wrapping_sub(1), params)
    }
}

struct Number(f64);

impl Value for Number {
    fn read(&self) -> f64 {
        self.0
    }
}

struct Defined {
    params: usize,
    body: Expression,
}

#[remote]
impl Function for Defined {
    async fn call(&self, params: &[f64]) -> Result<f64, String> {
        if params.len() != self.params {
            return Err(format!(
                "expected {} parameters, got {}",
                self.params,
                params.len()
            ));
        }
        self.body.result(params).await
    }
}

#[remote]
impl Function for Operator {
    async fn call(&self, params: &[f64]) -> Result<f64, String> {
        let [a, b] = params else {
            return Err(format!("expected 2 parameters, got {}", params.len()));
        };
        Ok(match self {
            Operator::Add => a + b,
            Operator::Subtract => a - b,
            Operator::Multiply => a * b,
            Operator::Divide => a / b,
        })
    }
}

/// Exports the values and functions that it returns.
struct Plain(WeakServer);

impl Plain {
    fn server(&self) -> Result<Server, String> {
        self.0.upgrade().ok_or_else(|| "the server ends".to_owned())
    }

    fn function(&self, function: impl Function + 'static) -> Result<Remote<dyn Function>, String> {
        Ok(self
            .server()?
            .export::<dyn Function>(Arc::new(function))
            .into_remote())
    }
}

#[remote]
impl Calculator for Plain {
    async fn evaluate(&self, expression: Expression) -> Result<Remote<dyn Value>, String> {
        let number = expression.result(&[]).await?;
        Ok(self
            .server()?
            .export::<dyn Value>(Arc::new(Number(number)))
            .into_remote())
    }

    fn define(&self, params: usize, body: Expression) -> Result<Remote<dyn Function>, String> {
        self.function(Defined { params, body })
    }

    fn operator(&self, operator: Operator) -> Result<Remote<dyn Function>, String> {
        self.function(operator)
    }
}

/// A function of the client, which the server calls back.
struct Power;

#[remote]
impl Function for Power {
    async fn call(&self, params: &[f64]) -> Result<f64, String> {
        match params {
            [base, exponent] => Ok(base.powf(*exponent)),
            _ => Err("wrong number of parameters".to_owned()),
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["server", address] => serve(address),
        ["client", address] => client(address),
        [] => both(),
        _ => Err("usage: calculator [server | client] ADDRESS".into()),
    }
}

fn serve(address: &str) -> Result<(), Box<dyn Error>> {
    let server = Server::default();
    server.bind::<dyn Calculator>("calculator", Arc::new(Plain(server.downgrade())))?;
    let serving = server.listen(&address.parse()?)?;
    println!("{}", serving.address());
    io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

/// Builds the parts of an expression. Each method returns the position of its part.
impl Expression {
    fn literal(&mut self, number: f64) -> usize {
        push(&mut self.parts, Part::Literal(number))
    }

    fn parameter(&mut self, at: usize) -> usize {
        push(&mut self.parts, Part::Parameter(at))
    }

    fn call(&mut self, function: &Remote<dyn Function>, params: &[usize]) -> usize {
        let function = push(&mut self.functions, function.clone());
        push(
            &mut self.parts,
            Part::Call {
                function,
                params: params.to_vec(),
            },
        )
    }

    fn previous(&mut self, value: &Remote<dyn Value>) -> usize {
        let value = push(&mut self.values, value.clone());
        push(&mut self.parts, Part::PreviousResult(value))
    }
}

fn push<T>(all: &mut Vec<T>, one: T) -> usize {
    all.push(one);
    all.len().saturating_sub(1)
}

fn client(address: &str) -> Result<(), Box<dyn Error>> {
    let client = Client::connect(&address.parse()?).wait()?;
    let calculator = client.lookup::<dyn Calculator>("calculator").wait()?;

    // One round trip: `read` is sent before the value has arrived.
    let mut literal = Expression::default();
    literal.literal(123.0);
    let value = calculator.evaluate(literal);
    check("a literal", *value.pipelined().read().wait()?.get(), 123.0)?;

    // Another round trip for all operators. An argument has to have arrived.
    let operators = [
        Operator::Add,
        Operator::Subtract,
        Operator::Multiply,
        Operator::Divide,
    ]
    .map(|operator| calculator.operator(operator));
    let mut functions = Vec::new();
    for operator in operators {
        functions.push(operator.wait()??);
    }
    let [add, subtract, multiply, divide] = &functions[..] else {
        return Err("there are four operators".into());
    };

    let mut sum = Expression::default();
    let (a, b, c) = (sum.literal(123.0), sum.literal(45.0), sum.literal(67.0));
    let both = sum.call(add, &[a, b]);
    sum.call(subtract, &[both, c]);
    let value = calculator.evaluate(sum);
    check(
        "123 + 45 - 67",
        *value.pipelined().read().wait()?.get(),
        101.0,
    )?;

    // A value of the server is used in two expressions.
    let mut product = Expression::default();
    let (a, b) = (product.literal(4.0), product.literal(6.0));
    product.call(multiply, &[a, b]);
    let product = calculator.evaluate(product).wait()??;
    let plus = |number| {
        let mut sum = Expression::default();
        let (a, b) = (sum.previous(&product), sum.literal(number));
        sum.call(add, &[a, b]);
        calculator.evaluate(sum)
    };
    let (three, five) = (plus(3.0), plus(5.0));
    let (three, five) = (three.pipelined().read(), five.pipelined().read());
    check("4 * 6 + 3", *three.wait()?.get(), 27.0)?;
    check("4 * 6 + 5", *five.wait()?.get(), 29.0)?;

    // f(x, y) = x * 100 + y
    let mut body = Expression::default();
    let (x, y, hundred) = (body.parameter(0), body.parameter(1), body.literal(100.0));
    let hundreds = body.call(multiply, &[x, hundred]);
    body.call(add, &[hundreds, y]);
    let f = calculator.define(2, body).wait()??;
    // g(x) = f(x, x + 1) * 2
    let mut body = Expression::default();
    let (x, one, two) = (body.parameter(0), body.literal(1.0), body.literal(2.0));
    let next = body.call(add, &[x, one]);
    let of = body.call(&f, &[x, next]);
    body.call(multiply, &[of, two]);
    let g = calculator.define(1, body);
    // A function is also called without an expression, before it has arrived.
    let (f, g) = (f.call(&[12.0, 34.0]), g.pipelined().call(&[21.0]));
    check("f(12, 34)", f.wait()?.to_owned()??, 1234.0)?;
    check("g(21)", g.wait()?.to_owned()??, 4244.0)?;
    let none = divide.call(&[1.0]).wait()?;
    println!("divide(1): {:?}", none.get());

    // The server calls a function of this program, while this thread waits.
    let power = client.export::<dyn Function>(Arc::new(Power));
    let mut power_of = Expression::default();
    let (a, b, c) = (
        power_of.literal(2.0),
        power_of.literal(4.0),
        power_of.literal(5.0),
    );
    let exponent = power_of.call(add, &[b, c]);
    power_of.call(&power.remote(), &[a, exponent]);
    let value = calculator.evaluate(power_of);
    check(
        "2 ^ (4 + 5)",
        *value.pipelined().read().wait()?.get(),
        512.0,
    )
}

fn check(what: &str, number: f64, expected: f64) -> Result<(), Box<dyn Error>> {
    println!("{what}: {number}");
    if number == expected {
        Ok(())
    } else {
        Err(format!("expected {expected}").into())
    }
}

/// Runs the server as another process, and calls it.
fn both() -> Result<(), Box<dyn Error>> {
    let mut server = Command::new(env::current_exe()?)
        .args(["server", "tcp://127.0.0.1:0"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut address = String::new();
    BufReader::new(server.stdout.take().ok_or("no output")?).read_line(&mut address)?;
    let result = client(address.trim());
    // The server ends when its standard input is closed.
    drop(server.stdin.take());
    let status = server.wait()?;
    result?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("the server ended: {status}").into())
    }
}
