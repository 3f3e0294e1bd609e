// A Java service as Spring Boot reads JSON: Jackson into a class, unknown members ignored. Prints its port.
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;

class Orders {
    public static class Order {
        public String sku;
        public int cents;
    }

    public static void main(String[] arguments) throws Exception {
        ObjectMapper mapper = new ObjectMapper().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        server.createContext("/", exchange -> {
            int status = 200;
            String text;
            try {
                Order order = mapper.readValue(exchange.getRequestBody().readAllBytes(), Order.class);
                text = "{\"sku\":" + mapper.writeValueAsString(order.sku) + ",\"cents\":" + order.cents + "}";
            } catch (IOException fault) {
                status = 400;
                text = "{\"status\":400,\"error\":\"Bad Request\"}";
            }
            byte[] body = text.getBytes("UTF-8");
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.sendResponseHeaders(status, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
        System.out.println(server.getAddress().getPort());
    }
}
